import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;

/** Reads a table with Flink's JDBC driver, and prints what it gets. */
public class Read {
    public static void main(String[] arguments) throws Exception {
        Class.forName("org.apache.flink.table.jdbc.FlinkDriver");
        try (Connection connection = DriverManager.getConnection("jdbc:flink://127.0.0.1:" + arguments[0]);
                Statement statement = connection.createStatement()) {
            statement.execute("SET 'execution.runtime-mode' = 'batch'");
            statement.execute("CREATE VIEW fruit AS SELECT * FROM (VALUES (1, 'pear'), (2, 'apple')) AS t (id, name)");
            String query = "SELECT id, name, CAST(1.25 AS DECIMAL(5, 2)), TIMESTAMP '2026-01-02 03:04:05.678',"
                    + " DATE '2026-01-02', id > 1, CAST(1.5 AS DOUBLE), X'0102', MAP['a', id], CAST(NULL AS INT)"
                    + " FROM fruit ORDER BY id";
            try (ResultSet rows = statement.executeQuery(query)) {
                System.out.println(rows.getMetaData().getColumnTypeName(4));
                while (rows.next()) {
                    System.out.println(rows.getInt(1) + " " + rows.getString(2) + " " + rows.getBigDecimal(3) + " "
                            + rows.getTimestamp(4) + " " + rows.getDate(5) + " " + rows.getBoolean(6) + " "
                            + rows.getDouble(7) + " " + rows.getBytes(8).length + " " + rows.getObject(9) + " "
                            + rows.getObject(10));
                }
            }
            try (ResultSet rows = connection.getMetaData().getCatalogs()) {
                rows.next();
                System.out.println(rows.getString(1));
            }
            statement.execute("SET 'execution.runtime-mode' = 'streaming'");
            statement.execute("CREATE TABLE endless (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '10')");
            try (ResultSet rows = statement.executeQuery("SELECT n FROM endless")) {
                System.out.println(rows.next());
            }
            try {
                statement.executeQuery("SELECT nope FROM fruit");
            } catch (Exception error) {
                System.out.println(error.getCause().getMessage().contains("Column 'nope' not found"));
            }
        }
    }
}
