import * as iam from 'aws-cdk-lib/aws-iam';
import { type App, CfnOutput, Stack } from 'aws-cdk-lib/core';
import type { Bundles } from '#infra/build/bundle.ts';
import type { Settings } from '#infra/settings/settings.ts';
import { HttpApi } from './api.ts';
import { ApiRole } from './api-role.ts';
import { Data } from './data.ts';
import type { Declaration } from './declaration.ts';
import { EnvironmentApi, environmentFunctionIds } from './environment-api.ts';
import { Events, LostEvents } from './events.ts';
import { existsWholly } from './existing-data.ts';
import { PlatformFunction } from './function.ts';
import { FunctionLogs } from './function-logs.ts';
import { functionNetwork } from './function-network.ts';
import { type FunctionId, functionIds, functions, httpFunctionIds, lifecycleFunctions } from './functions.ts';
import { grants, statement, withTableRules } from './grants.ts';
import { IdentityKeys } from './identity.ts';
import { Lifecycle } from './lifecycle.ts';
import { Operations } from './operations.ts';
import { recordSettings } from './recorded-settings.ts';
import { Runners } from './runner.ts';
import { existingStorage, type PlatformStorage } from './storage.ts';
import { type Parts, variableGroups } from './variables.ts';

type Handlers = Record<FunctionId, PlatformFunction>;

/** Data and platform, one stack each; without the data's if all of it exists. */
export const platformStacks = (app: App, settings: Settings, bundles: Bundles) => {
  const data = existsWholly(settings) ? undefined : new Data(app, settings);
  return { data, platform: new Platform(app, settings, bundles, data?.storage) };
};

/** Everything except the data. */
class Platform extends Stack {
  readonly #logs: FunctionLogs;

  constructor(app: App, settings: Settings, bundles: Bundles, created: PlatformStorage | undefined) {
    super(app, settings.stackName, {
      description: 'Stepform: Terraform Cloud’s run lifecycle as a serverless application',
      analyticsReporting: false,
      // CloudFormation accepts 1 MB (quotas), and indentation would be a third of the template.
      suppressTemplateIndentation: true,
    });
    recordSettings(this, settings);
    const storage = existingStorage(this, settings, created);
    const identity = new IdentityKeys(this, 'IdentityKeys', settings);
    const invoker = new ApiRole(this, 'ApiInvoker');
    const { roleArn } = invoker.role;
    const api = new HttpApi(this, 'HttpApi', { settings, routes: bundles.apiRoutes, roleArn });
    const environments = new EnvironmentApi(this, 'EnvironmentApi', { settings, roleArn });
    const runners = new Runners(this, 'Runners', settings, bundles.runner);
    this.#logs = new FunctionLogs(this, 'FunctionLogs', settings);
    const lost = new LostEvents(this, 'LostEvents');

    const parts: Parts = {
      settings,
      storage,
      identity,
      runners,
      publicUrl: api.url,
      environmentsUrl: environments.url,
      environmentSocketUrl: environments.socketUrl,
      lostEvents: lost.queue,
    };
    const { handlers, lifecycle } = this.#functions(parts, bundles);
    const functionsOf = <K extends FunctionId>(ids: readonly K[]) => record(ids, (id) => handlers[id].function);
    const invoked = [...new Set([...httpFunctionIds, ...environmentFunctionIds, 'EnvironmentLogs' as const])];
    const invocation = invoker.allow(Object.values(functionsOf(invoked)));
    api.connect(functionsOf(httpFunctionIds), invocation);
    environments.connect(functionsOf(environmentFunctionIds), handlers.EnvironmentLogs, invocation);
    new Events(this, 'Events', {
      functions: handlers,
      lost,
      stateMachineArn: lifecycle.stateMachineArn,
      clusterArn: runners.clusterArn,
      bucketName: storage.bucket.bucketName,
    });
    new Operations(this, 'Operations', {
      settings,
      functions: handlers,
      machine: lifecycle.machine,
      lostEvents: lost.queue,
      api,
      sweepLog: this.#logs.of('Sweep'),
      lifecycleLog: this.#logs.of('Complete'),
      table: storage.table,
      key: storage.key,
    });

    const outputs = {
      ApiUrl: api.url,
      EnvironmentsUrl: environments.url,
      StateMachineArn: lifecycle.stateMachineArn,
      BootstrapFunctionName: handlers.Bootstrap.function.functionName,
      RecoverFunctionName: handlers.Recover.function.functionName,
      DrainFunctionName: handlers.Drain.function.functionName,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }

  /**
   * Creates every function after those that it invokes, and the state machine between the functions of its states and
   * its callers.
   */
  #functions(parts: Parts, bundles: Bundles): { handlers: Handlers; lifecycle: Lifecycle } {
    const build = (id: FunctionId): PlatformFunction => this.#build(id, parts, bundles);
    const commitStatus = build('CommitStatus');
    parts.commitStatus = commitStatus.function;
    const environmentLogs = build('EnvironmentLogs');
    parts.environmentLogs = environmentLogs.function;
    const invoked = {
      ...record(['Notify', 'Trace', 'EnvironmentSettle', 'FetchCommit', 'FetchProvider'], build),
      CommitStatus: commitStatus,
      EnvironmentLogs: environmentLogs,
    };
    parts.notify = invoked.Notify.function;
    parts.trace = invoked.Trace.function;
    parts.environmentSettle = invoked.EnvironmentSettle.function;
    parts.fetchCommit = invoked.FetchCommit.function;
    parts.fetchProvider = invoked.FetchProvider.function;

    const states = record(lifecycleFunctions, build);
    const lifecycle = new Lifecycle(this, 'Lifecycle', {
      functions: record(lifecycleFunctions, (id) => states[id].function),
    });
    parts.machine = lifecycle.machine;
    // Separate policies: the functions, and so the machine, depend on the roles' own ones.
    new iam.Policy(this, 'AnswerExecutions', {
      statements: [statement(grants(parts).answerExecutions())],
      roles: [
        ...lifecycleFunctions.filter((id) => functions[id].state === 'waits').map((id) => states[id].role),
        invoked.FetchCommit.role,
      ],
    });

    const callers = record(['VersionControlEvent', 'EnvironmentSweep', 'DataRetention'], build);
    parts.versionControlEvent = callers.VersionControlEvent.function;
    parts.environmentSweep = callers.EnvironmentSweep.function;
    parts.dataRetention = callers.DataRetention.function;

    const built: Partial<Handlers> = { ...states, ...invoked, ...callers };
    return { handlers: record(functionIds, (id) => built[id] ?? build(id)), lifecycle };
  }

  #build(id: FunctionId, parts: Parts, bundles: Bundles): PlatformFunction {
    const declaration: Declaration = functions[id];
    const variables = variableGroups(parts);
    return new PlatformFunction(this, id, {
      declaration,
      logGroup: this.#logs.of(id),
      bundle: bundles.functions[id].file,
      environment: Object.assign({}, ...declaration.environment.map((group) => variables[group]())),
      permissions: withTableRules(parts.storage, declaration.rights(grants(parts))),
      network: declaration.environment.includes('outbound') ? functionNetwork(parts.settings) : undefined,
    });
  }
}

const record = <K extends string, V>(ids: readonly K[], make: (id: K) => V): Record<K, V> =>
  Object.fromEntries(ids.map((id) => [id, make(id)])) as Record<K, V>;
