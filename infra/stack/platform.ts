import * as iam from 'aws-cdk-lib/aws-iam';
import { Aws, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { Bundles } from '#infra/build/bundle.ts';
import type { Settings } from '#infra/settings/settings.ts';
import { HttpApi } from './api.ts';
import { ApiRole } from './api-role.ts';
import type { Declaration } from './declaration.ts';
import { EnvironmentApi, environmentFunctionIds } from './environment-api.ts';
import { Events, LostEvents } from './events.ts';
import { featureFlags } from './feature-flags.ts';
import { PlatformFunction } from './function.ts';
import { FunctionLogs } from './function-logs.ts';
import { functionNetwork } from './function-network.ts';
import { type FunctionId, functionIds, functions, httpFunctionIds, lifecycleFunctions } from './functions.ts';
import { grants, statement, withTableRules } from './grants.ts';
import { IdentityKeys } from './identity.ts';
import { Operations } from './operations.ts';
import { Runners } from './runner.ts';
import { Lifecycle } from './state-machine.ts';
import type { PlatformStorage } from './storage.ts';
import { TableBackup } from './table-backup.ts';
import { type Parts, variableGroups } from './variables.ts';

type Handlers = Record<FunctionId, PlatformFunction>;

export interface PlatformProps {
  settings: Settings;
  bundles: Bundles;
  storage: PlatformStorage;
}

/** Everything except the data. A stack may contain several. */
export class Platform extends Construct {
  /** Of the HTTP API, without a trailing slash. */
  readonly url: string;
  readonly environmentsUrl: string;
  readonly handlers: Handlers;
  readonly lifecycle: Lifecycle;
  readonly #logs: FunctionLogs;

  constructor(scope: Construct, id: string, { settings, bundles, storage }: PlatformProps) {
    super(scope, id);
    // In an app with other flags the resources would have other names and properties.
    for (const [flag, value] of Object.entries(featureFlags)) this.node.setContext(flag, value);
    const name = nameOf(this);
    const identity = new IdentityKeys(this, 'IdentityKeys', settings);
    const invoker = new ApiRole(this, 'ApiInvoker');
    const { roleArn } = invoker.role;
    const api = new HttpApi(this, 'HttpApi', { settings, name, routes: bundles.apiRoutes, roleArn });
    const environments = new EnvironmentApi(this, 'EnvironmentApi', { settings, name, roleArn });
    const runners = new Runners(this, 'Runners', { settings, name, bundles });
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
    const { backupVaultArn: vaultArn } = settings;
    const backup = vaultArn ? new TableBackup(this, 'Backup', { settings, name, storage, vaultArn }) : undefined;
    new Operations(this, 'Operations', {
      settings,
      name,
      functions: handlers,
      machine: lifecycle.machine,
      lostEvents: lost.queue,
      api,
      sweepLog: this.#logs.of('Sweep'),
      lifecycleLog: this.#logs.of('Complete'),
      table: storage.table,
      bucket: storage.bucket,
      backupVaultName: backup?.vaultName,
    });
    this.url = api.url;
    this.environmentsUrl = environments.url;
    this.handlers = handlers;
    this.lifecycle = lifecycle;
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
    const compilePolicies = build('CompilePolicies');
    parts.compilePolicies = compilePolicies.function;
    const invoked = {
      ...record(['Notify', 'Trace', 'EnvironmentSettle', 'FetchCommit', 'FetchProvider'], build),
      CommitStatus: commitStatus,
      EnvironmentLogs: environmentLogs,
      CompilePolicies: compilePolicies,
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

/**
 * Name of a platform in the names of its resources: the stack's, with the construct's path unless it is `Default`, which
 * CDK omits from logical ids too.
 */
const nameOf = ({ node }: Platform): string => {
  const scopes = node.scopes.slice(node.scopes.lastIndexOf(Stack.of(node.scope as Construct)) + 1);
  const ids = scopes.map(({ node: { id } }) => id).filter((id) => id !== 'Default');
  return [Aws.STACK_NAME, ...ids].join('-');
};

const record = <K extends string, V>(ids: readonly K[], make: (id: K) => V): Record<K, V> =>
  Object.fromEntries(ids.map((id) => [id, make(id)])) as Record<K, V>;
