import java.lang.management.ManagementFactory;
import java.util.Random;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/**
 * The same accesses as benchmarks/rocksdb_keys.py in Flink's own runtime: a ValueState of BYTES random bytes (0: of a
 * long) per key; each of KEYS keys is set, then READS random ones are read. With a fifth argument, hot, nine of ten
 * reads are of a tenth of the keys. Prints the time of the processor per record, of the thread of the task and of the
 * process, for the backend STATE. Compile it first: Flink cannot load classes that java compiles in memory.
 *
 * <pre>javac -cp "pyflink/lib/*" -d classes RocksDBKeys.java
 * java -cp "classes:pyflink/lib/*" RocksDBKeys STATE KEYS READS BYTES [hot]</pre>
 */
public class RocksDBKeys {
    static long process() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    static long drawn(long n, long keys, boolean hot) {
        long number = n * 0x9E3779B97F4A7C15L >> 16;
        if (hot && Math.floorMod(number, 10) != 0) {
            return Math.floorMod(number / 10, keys / 10) * 10;
        }
        return Math.floorMod(number, keys);
    }

    static class Accesses extends KeyedProcessFunction<Long, Long, Long> {
        final long keys, reads;
        final int bytes;
        transient ValueState<byte[]> state;
        transient ValueState<Long> number;
        transient Random draw;
        transient long seen, thread, all;

        Accesses(long keys, long reads, int bytes) {
            this.keys = keys;
            this.reads = reads;
            this.bytes = bytes;
        }

        @Override
        public void open(OpenContext context) {
            if (bytes > 0) {
                state = getRuntimeContext().getState(new ValueStateDescriptor<>("value", byte[].class));
            } else {
                number = getRuntimeContext().getState(new ValueStateDescriptor<>("number", Types.LONG));
            }
            draw = new Random(1);
        }

        private void report(String what, long records) {
            long now = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime(), process = process();
            if (what != null) {
                System.out.printf("%s: %.2f us, thread; %.2f us, process%n", what, (now - thread) / 1e3 / records, (process - all) / 1e3 / records);
            }
            thread = now;
            all = process;
        }

        @Override
        public void processElement(Long record, Context context, Collector<Long> out) throws Exception {
            if (seen == 0) {
                report(null, 1);
            }
            if (seen < keys) {
                if (bytes > 0) {
                    byte[] value = new byte[bytes];
                    draw.nextBytes(value);
                    state.update(value);
                } else {
                    number.update(record);
                }
            } else {
                if (seen == keys) {
                    report("set each key", keys);
                }
                Object found = bytes > 0 ? state.value() : number.value();
                if (found == null) {
                    throw new IllegalStateException("no value of " + record);
                }
            }
            if (++seen == keys + reads) {
                report("get random keys", reads);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        long keys = Long.parseLong(arguments[1]), reads = Long.parseLong(arguments[2]);
        boolean hot = arguments.length > 4 && arguments[4].equals("hot");
        Configuration configuration = new Configuration();
        configuration.setString("state.backend.type", arguments[0]);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        env.setParallelism(1);
        env.getConfig().enableObjectReuse();
        env.fromSequence(0, keys + reads - 1)
                .map(n -> n < keys ? n : drawn(n, keys, hot)).returns(Types.LONG)
                .keyBy(n -> n, Types.LONG)
                .process(new Accesses(keys, reads, Integer.parseInt(arguments[3])))
                .sinkTo(new DiscardingSink<>());
        env.execute();
    }
}
