import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Settings } from '#infra/settings/settings.ts';
import { type FunctionId, httpFunctions, stateFunctions } from './functions.ts';
import { removalPolicy } from './storage.ts';

/** The sweep is a class of its own: its repairs are counted from its log (operations.ts). */
type LogClass = 'Api' | 'Environments' | 'Lifecycle' | 'Sweep' | 'Background';

const logClass = (id: FunctionId): LogClass => {
  if (id === 'Sweep') return 'Sweep';
  if (id.startsWith('Environment')) return 'Environments';
  if (Object.hasOwn(httpFunctions, id)) return 'Api';
  return Object.hasOwn(stateFunctions, id) ? 'Lifecycle' : 'Background';
};

/**
 * One log group for each class of functions. The streams in it are named by day and function (Lambda: configuring CloudWatch
 * log groups), so that each function's lines are still told apart.
 */
export class FunctionLogs extends Construct {
  readonly #settings: Settings;
  readonly #groups = new Map<LogClass, logs.LogGroup>();

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    this.#settings = settings;
  }

  of(id: FunctionId): logs.LogGroup {
    const name = logClass(id);
    const group = this.#groups.get(name) ?? this.#make(name);
    this.#groups.set(name, group);
    return group;
  }

  #make(name: LogClass): logs.LogGroup {
    return new logs.LogGroup(this, name, {
      retention: this.#settings.logRetentionDays,
      removalPolicy: removalPolicy(this.#settings),
    });
  }
}
