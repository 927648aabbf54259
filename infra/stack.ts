import * as iam from 'aws-cdk-lib/aws-iam';
import { type App, CfnOutput, Stack } from 'aws-cdk-lib/core';
import { HttpApi } from './api.ts';
import type { Bundles } from './bundle.ts';
import type { Declaration } from './declaration.ts';
import { EnvironmentApi } from './environment-api.ts';
import { Events, LostEvents } from './events.ts';
import { PlatformFunction } from './function.ts';
import { type FunctionId, functionIds, functions, httpFunctionIds, lifecycleFunctions } from './functions.ts';
import { grants, statement, withinBounds } from './grants.ts';
import { IdentityKeys } from './identity.ts';
import { Lifecycle } from './lifecycle.ts';
import { Operations } from './operations.ts';
import { Runners } from './runner.ts';
import type { Settings } from './settings.ts';
import { Storage } from './storage.ts';
import { type Parts, variableGroups } from './variables.ts';

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
    const environments = new EnvironmentApi(this, 'EnvironmentApi', settings);
    const runners = new Runners(this, 'Runners', settings, bundles.runner);
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
    const build = (id: FunctionId): PlatformFunction => this.#build(id, parts, bundles);

    // Before its callers.
    const commitStatus = build('CommitStatus');
    parts.commitStatus = commitStatus.function;
    const others = record(['Notify', 'EnvironmentSettle', 'FetchCommit', 'FetchProvider'], build);
    const told = { ...others, CommitStatus: commitStatus };
    parts.notify = told.Notify.function;
    parts.environmentSettle = told.EnvironmentSettle.function;
    parts.fetchCommit = told.FetchCommit.function;
    parts.fetchProvider = told.FetchProvider.function;
    const states = record(lifecycleFunctions, build);
    const lifecycle = new Lifecycle(this, 'Lifecycle', {
      functions: record(lifecycleFunctions, (id) => states[id].function),
    });
    parts.machine = lifecycle.machine;
    // Apart from the roles' own policies, which the functions and so the machine wait for.
    new iam.Policy(this, 'AnswerExecutions', {
      statements: [statement(grants(parts).answerExecutions())],
      roles: [
        ...lifecycleFunctions.filter((id) => functions[id].state === 'waits').map((id) => states[id].role),
        told.FetchCommit.role,
      ],
    });
    const versionControlEvent = build('VersionControlEvent');
    parts.versionControlEvent = versionControlEvent.function;
    const sweep = build('EnvironmentSweep');
    parts.environmentSweep = sweep.function;
    const retention = build('DataRetention');
    parts.dataRetention = retention.function;
    const before = {
      ...states,
      ...told,
      VersionControlEvent: versionControlEvent,
      EnvironmentSweep: sweep,
      DataRetention: retention,
    };
    const isMade = (id: FunctionId): id is keyof typeof before => id in before;
    const handlers = record(functionIds, (id) => (isMade(id) ? before[id] : build(id)));

    api.connect(
      bundles.apiRoutes,
      record(httpFunctionIds, (id) => handlers[id].function),
    );
    environments.connect({
      target: handlers.Environments.function,
      builds: handlers.EnvironmentBuilds.function,
      templates: handlers.EnvironmentTemplates.function,
      files: handlers.EnvironmentFiles.function,
      governance: handlers.EnvironmentGovernance.function,
      delivery: handlers.EnvironmentLogs,
    });
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
      key: storage.key,
    });

    const outputs = {
      ApiUrl: api.url,
      EnvironmentsUrl: environments.url,
      StateMachineArn: lifecycle.stateMachineArn,
      TableName: storage.table.tableName,
      BucketName: storage.bucket.bucketName,
      BootstrapFunctionName: handlers.Bootstrap.function.functionName,
      RecoverFunctionName: handlers.Recover.function.functionName,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }

  #build(id: FunctionId, parts: Parts, bundles: Bundles): PlatformFunction {
    const declaration: Declaration = functions[id];
    const variables = variableGroups(parts);
    return new PlatformFunction(this, id, {
      settings: parts.settings,
      declaration,
      bundle: bundles.functions[id].file,
      environment: Object.assign({}, ...declaration.environment.map((group) => variables[group]())),
      permissions: withinBounds(parts.storage.table.tableArn, declaration.rights(grants(parts))),
    });
  }
}

const record = <K extends string, V>(ids: readonly K[], make: (id: K) => V): Record<K, V> =>
  Object.fromEntries(ids.map((id) => [id, make(id)])) as Record<K, V>;
