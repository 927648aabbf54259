import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Settings } from '#infra/settings/settings.ts';
import { type FunctionId, httpFunctions, stateFunctions } from './functions.ts';
import { removalPolicy } from './storage.ts';

/** The sweep has its own class, because a metric counts repairs in its log (operations.ts). */
type LogClass = 'Api' | 'Environments' | 'Lifecycle' | 'Sweep' | 'Background';

const logClass = (id: FunctionId): LogClass => {
  if (id === 'Sweep') return 'Sweep';
  if (id.startsWith('Environment')) return 'Environments';
  if (Object.hasOwn(httpFunctions, id)) return 'Api';
  return Object.hasOwn(stateFunctions, id) ? 'Lifecycle' : 'Background';
};

/**
 * One log group per class of functions. Log streams are named by day and function (Lambda: configuring CloudWatch log
 * groups), which keeps the lines of each function apart.
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
