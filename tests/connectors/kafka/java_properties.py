"""Write the properties that Kafka's Java clients document to a table for the tests.

    python -m tests.connectors.kafka.java_properties 3.4.0 4.1.1

asks the ``kafka-clients`` of these releases, which Ivy downloads from Maven Central, and writes
``java_properties.tsv``: client, name, type, default.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark

RECORDED = Path(__file__).with_name("java_properties.tsv")

PROGRAM = """
import java.util.*;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;

public class Names {
  static void write(String client, ConfigDef definition) {
    for (ConfigDef.ConfigKey key : new TreeMap<>(definition.configKeys()).values())
      System.out.println(String.join("\\t", client, key.name, key.type.name(), value(key)));
  }
  static String value(ConfigDef.ConfigKey key) {
    return key.hasDefault() ? String.valueOf(key.defaultValue) : "";
  }
  public static void main(String[] arguments) {
    write("consumer", ConsumerConfig.configDef());
    write("producer", ProducerConfig.configDef());
  }
}
"""


def recorded() -> list[tuple[str, str, str, str]]:
    """Return client, name, type and default of each property."""
    lines = RECORDED.read_text("utf-8").splitlines()
    return [tuple(f"{line}\t".split("\t")[:4]) for line in lines]  # type: ignore[misc]


def main() -> None:
    """Query each release, and write the properties of all of them."""
    ivy = next(Path(pyspark.__file__).parent.glob("jars/ivy-*.jar"))
    found: dict[tuple[str, str], str] = {}
    for release in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as directory:
            get = ["java", "-jar", str(ivy), "-cache", f"{directory}/cache", "-confs", "default"]
            get += ["-dependency", "org.apache.kafka", "kafka-clients", release]
            subprocess.run([*get, "-retrieve", f"{directory}/[artifact].[ext]"], check=True, capture_output=True)  # noqa: S603
            Path(directory, "Names.java").write_text(PROGRAM, "utf-8")
            ask = ["java", "-cp", f"{directory}/*", f"{directory}/Names.java"]
            text = subprocess.run(ask, check=True, capture_output=True, text=True).stdout  # noqa: S603
        for line in text.splitlines():
            client, name, *_ = line.split("\t")
            found[client, name] = line.rstrip()
    RECORDED.write_text("".join(f"{found[key]}\n" for key in sorted(found)), "utf-8")
    print(f"{len(found)} properties in {RECORDED}")


if __name__ == "__main__":
    main()
