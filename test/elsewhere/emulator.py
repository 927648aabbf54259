"""Starts MiniStack with what it does not do and the platform needs. What is left out of the deployment: left-out.ts."""

import json
import os
import sys

from ministack.app import main
from ministack.core import iam_actions, iam_evaluator
from ministack.services import iam, s3, stepfunctions

copy_object = s3._copy_object


def copy_object_with_checksum(bucket, key, headers):
    """S3 computes the checksum that a copy asks for, and answers with it (S3 API: CopyObject)."""
    algorithm = headers.get("x-amz-checksum-algorithm")
    if algorithm:
        headers = {**headers, "x-amz-sdk-checksum-algorithm": algorithm}
    status, answered, body = copy_object(bucket, key, headers)
    checksum = s3._ensure_bucket(bucket)["objects"][key]["checksums"].get("SHA256") if status == 200 else None
    if checksum:
        tag = f"<ChecksumSHA256>{checksum}</ChecksumSHA256></CopyObjectResult>"
        body = body.replace(b"</CopyObjectResult>", tag.encode())
    return status, answered, body


s3._copy_object = copy_object_with_checksum

def named_in(body, field):
    """The JSON body's text or first list item of that name."""
    value = json.loads(body or b"{}").get(field) or ""
    return value[0] if isinstance(value, list) else value


resource_of = iam_actions.extract_resource_arn


def resource_with_tasks(service, method, path, headers, body, query_params, region, account_id):
    """ECS judges calls by what they start, stop or describe, not by the cluster; Step Functions judges answers to tasks by
    the machine that made the token (service authorization reference: ECS; aws-cdk: StateMachine.grantTaskResponse)."""
    action = iam_actions.extract_iam_action(service, method, path, headers, body, query_params) or ""
    if service == "ecs":
        return named_in(body, "taskDefinition") or named_in(body, "task") or named_in(body, "tasks") or "*"
    if action.startswith("states:SendTask"):
        machines = list(stepfunctions._state_machines)
        return machines[0] if len(machines) == 1 else "*"
    return resource_of(service, method, path, headers, body, query_params, region, account_id)


context_of = iam_actions.request_tag_context


def context_with_cluster(service, iam_action, body, params):
    """ECS tells IAM the cluster of calls about its tasks (service authorization reference: ecs:cluster)."""
    context = context_of(service, iam_action, body, params)
    return {**context, "ecs:cluster": named_in(body, "cluster")} if service == "ecs" else context


simulated_params = iam._extract_simulate_params
simulated_results = iam._build_simulate_results_real


def every_resource(params):
    """Simulations judge each resource, not only the first (IAM API: SimulatePrincipalPolicy)."""
    numbers = range(1, len(params) + 1)
    named = [iam._p(params, f"ResourceArns.member.{n}") for n in numbers]
    return simulated_params(params)[0], [one for one in named if one]


def results_of_each(actions, resources, *principal):
    return "".join(simulated_results(actions, one, *principal) for one in resources)


enforce = iam_evaluator.enforce


def enforce_and_note(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
    """Notes who was allowed or denied what. Root, who deploys and tests, is not judged."""
    denied = enforce(access_key_id, iam_action, service, region, resource_arn, service_context)
    if not is_root(access_key_id):
        verdict = "allowed" if denied is None else "denied"
        judged.write(json.dumps({"action": iam_action, "resource": resource_arn, "verdict": verdict}) + "\n")
        judged.flush()
    return denied


def is_root(access_key_id):
    return access_key_id in ("", None, "test")


judged = open(os.environ["JUDGED"], "a", encoding="utf-8")
iam._extract_simulate_params = every_resource
iam._build_simulate_results_real = results_of_each
iam_actions.extract_resource_arn = resource_with_tasks
iam_actions.request_tag_context = context_with_cluster
iam_evaluator.enforce = enforce_and_note

if __name__ == "__main__":
    sys.exit(main())
