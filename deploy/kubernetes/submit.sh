#!/bin/sh
# Submit a program to Kubernetes. Not run by this project, which has no cluster; a test parses the command with Spark.
#
#   API_SERVER=https://HOST:PORT IMAGE=REGISTRY/flintstream CHECKPOINTS=s3://BUCKET/checkpoints \
#     deploy/kubernetes/submit.sh /opt/flintstream/examples/word_count.py
set -eu
here=$(dirname "$0")
exec spark-submit \
  --master "k8s://$API_SERVER" \
  --deploy-mode cluster \
  --name "${NAME:-flintstream}" \
  --conf "spark.kubernetes.namespace=${NAMESPACE:-default}" \
  --conf "spark.kubernetes.container.image=$IMAGE" \
  --conf spark.kubernetes.authenticate.driver.serviceAccountName=flintstream \
  --conf "spark.kubernetes.driver.podTemplateFile=$here/driver.yaml" \
  --conf "spark.kubernetes.executor.podTemplateFile=$here/executor.yaml" \
  --conf spark.kubernetes.driver.podTemplateContainerName=spark-kubernetes-driver \
  --conf spark.kubernetes.executor.podTemplateContainerName=spark-kubernetes-executor \
  --conf "spark.executor.instances=${EXECUTORS:-2}" \
  --conf "spark.executor.cores=${CORES:-2}" \
  --conf "spark.executor.memory=${MEMORY:-4g}" \
  --conf spark.executor.memoryOverheadFactor=0.4 \
  local:///opt/flintstream/flintstream_run.py \
  run --resume \
  -D execution.checkpointing.interval=30s \
  -D "execution.checkpointing.dir=$CHECKPOINTS" \
  "$@"
