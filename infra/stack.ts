import * as iam from 'aws-cdk-lib/aws-iam';
import { type App, CfnOutput, Stack } from 'aws-cdk-lib/core';
import { HttpApi } from './api.ts';
import type { Bundles } from './bundle.ts';
import { Events, LostEvents } from './events.ts';
import { PlatformFunction } from './function.ts';
import type { FunctionId } from './functions.ts';
import { IdentityKeys } from './identity.ts';
import { Lifecycle, type LifecycleFunction, lifecycleFunctions } from './lifecycle.ts';
import { Operations } from './operations.ts';
import { organizationVariable } from './organizations.ts';
import {
  answering,
  answers,
  lifecyclePermissions,
  notifyPermissions,
  type Permission,
  permissions,
  statement,
  withinBounds,
} from './permissions.ts';
import { Runners } from './runner.ts';
import type { Settings } from './settings.ts';
import { signInVariable } from './sign-in.ts';
import { Storage } from './storage.ts';

type Variables = Record<string, string>;

/** The whole platform, as one stack. */
export class Platform extends Stack {
  constructor(app: App, settings: Settings, bundles: Bundles) {
    super(app, settings.stackName, {
      description: 'Stepform: Terraform Cloud’s run lifecycle as a serverless application',
      analyticsReporting: false,
    });
    const storage = new Storage(this, 'Storage', settings);
    const identity = new IdentityKeys(this, 'IdentityKeys', settings);
    const api = new HttpApi(this, 'HttpApi', settings);
    const runners = new Runners(this, 'Runners', settings, bundles.runner);
    const lost = new LostEvents(this, 'LostEvents');

    const build = (id: FunctionId, environment: Variables, given: Permission[]): PlatformFunction =>
      new PlatformFunction(this, id, {
        settings,
        bundle: bundles.functions[id].file,
        environment,
        permissions: withinBounds(storage.table.tableArn, given),
      });
    // Whoever changes something may have it to record.
    const table = { TABLE_NAME: storage.table.tableName, AUDIT_RETENTION_DAYS: String(settings.auditRetentionDays) };
    const bucket = { BUCKET_NAME: storage.bucket.bucketName };
    const key = { KEY_ARN: storage.key.keyArn };
    const cluster = { CLUSTER_ARN: runners.clusterArn };
    const launch = runners.launchEnvironment(api.url);
    const tokens = {
      IDENTITY_KEY_ARNS: identity.all.map(({ keyArn }) => keyArn).join(','),
      PUBLIC_URL: api.url,
    };
    const outbound = { OUTBOUND_ALLOWED_CIDRS: settings.outboundAllowedCidrs?.join(',') ?? '' };

    // Before whoever calls it.
    const notify = build(
      'Notify',
      { ...table, ...key, ...outbound, PUBLIC_URL: api.url },
      notifyPermissions(storage, runners),
    );
    const notifyArn = notify.function.functionArn;
    const tell = { NOTIFY_FUNCTION: notify.function.functionName };

    const behindStates: Record<LifecycleFunction, Variables> = {
      Pending: { ...table, ...tell },
      Fetching: { ...table, ...bucket },
      RunTask: { ...table, ...key, ...outbound, PUBLIC_URL: api.url },
      TaskUnanswered: table,
      TaskStageDone: table,
      PlanQueued: { ...table, ...launch },
      Planning: { ...table, ...tell },
      PolicyEvaluating: { ...table, ...bucket, ...key },
      PostPlanAwaitingDecision: { ...table, ...tell },
      CostEstimating: { ...table, ...bucket, ...key },
      PolicyChecking: { ...table, ...bucket, ...key },
      PolicyOverride: { ...table, ...tell },
      NeedsConfirmation: { ...table, ...tell },
      PlannedAndSaved: table,
      Confirmed: table,
      ApplyQueued: { ...table, ...launch },
      Applying: { ...table, ...tell },
      Complete: { ...table, ...bucket, ...cluster, ...tell },
    };
    const stateMay = lifecyclePermissions(storage, runners, notifyArn);
    const states = record(lifecycleFunctions, (id) => build(id, behindStates[id], stateMay[id]));
    const lifecycle = new Lifecycle(this, 'Lifecycle', {
      functions: record(lifecycleFunctions, (id) => states[id].function),
    });
    const machine = { STATE_MACHINE_ARN: lifecycle.stateMachineArn };
    // Apart from the roles' own policies, which the functions and so the machine wait for.
    new iam.Policy(this, 'AnswerExecutions', {
      statements: [statement(answering(lifecycle.stateMachineArn))],
      roles: lifecycleFunctions.filter(answers).map((id) => states[id].role),
    });

    const { stateMachineArn: arn } = lifecycle;
    const named = { arn, name: lifecycle.machine.stateMachineName };
    const may = permissions(storage, runners, identity, named, notifyArn, settings);
    const forApi = { ...table, ...bucket, ...key, ...machine };
    const rules = { ORGANIZATION_RULES: organizationVariable(settings) };
    const limit = { REQUESTS_PER_SECOND: String(settings.requestsPerSecond) };
    const functions: Record<FunctionId, PlatformFunction> = {
      ...states,
      Notify: notify,
      Api: build('Api', { ...forApi, ...limit }, may.Api),
      States: build('States', { ...table, ...bucket, ...limit }, may.States),
      Access: build('Access', { ...table, ...limit, ...rules }, may.Access),
      // It asks the issuer that people sign in at.
      SignIn: build(
        'SignIn',
        { ...table, ...outbound, ...limit, ...rules, SIGN_IN: signInVariable(settings) },
        may.SignIn,
      ),
      // It asks destinations of notifications whether they are there.
      Settings: build('Settings', { ...table, ...key, ...outbound, ...limit }, may.Settings),
      // It starts no run, and asks a run task for a first answer when one is made.
      Governance: build('Governance', { ...table, ...bucket, ...key, ...outbound, ...limit }, may.Governance),
      Identity: build('Identity', tokens, may.Identity),
      Web: build('Web', bucket, may.Web),
      Logs: build('Logs', { ...table, ...bucket }, may.Logs),
      Runner: build(
        'Runner',
        {
          ...forApi,
          ...tokens,
          TERRAFORM_ENGINE: settings.terraformEngine,
          HOLD_SECONDS: String(settings.holdSeconds),
          HEARTBEAT_SECONDS: String(settings.heartbeatSeconds),
        },
        may.Runner,
      ),
      Agent: build('Agent', table, may.Agent),
      ExecutionStopped: build('ExecutionStopped', { ...table, ...bucket, ...cluster, ...tell }, [
        ...may.ExecutionStopped,
        lost.keep,
      ]),
      RunnerStopped: build('RunnerStopped', { ...table, ...launch }, [...may.RunnerStopped, lost.keep]),
      ConfigurationUploaded: build('ConfigurationUploaded', { ...table, ...bucket, ...machine }, [
        ...may.ConfigurationUploaded,
        lost.keep,
      ]),
      RunApplied: build('RunApplied', { ...table, ...bucket, ...machine }, [...may.RunApplied, lost.keep]),
      Sweep: build('Sweep', { ...table, ...bucket, ...machine, ...launch, ...tell }, may.Sweep),
      Bootstrap: build('Bootstrap', { ...table, PUBLIC_URL: api.url }, may.Bootstrap),
    };

    api.connect({
      Api: functions.Api.function,
      States: functions.States.function,
      Access: functions.Access.function,
      SignIn: functions.SignIn.function,
      Settings: functions.Settings.function,
      Governance: functions.Governance.function,
      Identity: functions.Identity.function,
      Logs: functions.Logs.function,
      Runner: functions.Runner.function,
      Agent: functions.Agent.function,
      Web: functions.Web.function,
    });
    new Events(this, 'Events', {
      functions,
      lost,
      stateMachineArn: lifecycle.stateMachineArn,
      clusterArn: runners.clusterArn,
      bucketName: storage.bucket.bucketName,
    });
    new Operations(this, 'Operations', {
      settings,
      functions,
      machine: lifecycle.machine,
      lostEvents: lost.queue,
      api,
      key: storage.key,
    });

    const outputs = {
      ApiUrl: api.url,
      StateMachineArn: lifecycle.stateMachineArn,
      TableName: storage.table.tableName,
      BucketName: storage.bucket.bucketName,
      BootstrapFunctionName: functions.Bootstrap.function.functionName,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}

const record = <K extends string, V>(ids: readonly K[], make: (id: K) => V): Record<K, V> =>
  Object.fromEntries(ids.map((id) => [id, make(id)])) as Record<K, V>;
