import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { packFiles } from '../../functions/cli/archive.ts';
import { ApiError, Client, isFinalRun, type Resource, type RunAction } from '../../functions/cli/client.ts';
import { runOperations } from '../../functions/run/operation.ts';
import type { CountedRule, FaultRule } from '../../infra/local/faults.ts';
import { endCoolOff, operate } from '../e2e/support/operator.ts';
import { PlatformProcess } from '../e2e/support/platform.ts';
import { Audit } from './audit.ts';
import { Chance } from './chance.ts';
import { configuration } from './ledger.ts';
import { runners, send } from './processes.ts';
import { Tally } from './tally.ts';

/** More at once only make a small machine slower. */
const workspaceCount = 4;
const mostOpenRuns = 8;
const mostRunners = 4;
/** What no retry, missed beat or sweep takes longer than once all is quiet. */
const quietMs = 240_000;

const resourceSets = [['a'], ['a', 'b'], ['b', 'c', 'd'], ['a', 'c', 'e'], []];

/** Plan-only runs are listed only when they are asked for. */
export const runsOf = (workspaceId: string): string =>
  `/workspaces/${workspaceId}/runs?filter[operation]=${runOperations.join(',')}`;

export interface Place {
  id: string;
  name: string;
  versions: string[];
}

/** What was done to a run that excuses what Terraform could not say any more. */
export interface Violence {
  runId: string;
  what: 'killed' | 'frozen' | 'force-canceled';
  at: number;
}

export class Campaign {
  readonly folder: string;
  readonly ledger: string;
  readonly canaries = [1, 2].map(() => `canary-${randomBytes(16).toString('hex')}`);
  readonly places: Place[] = [];
  /** Runs whose creation was answered: they must exist. */
  readonly acknowledged = new Set<string>();
  readonly violence: Violence[] = [];
  readonly tally = new Tally();
  readonly #platform: PlatformProcess;
  readonly #chance: Chance;
  #client: Client;

  private constructor(platform: PlatformProcess, seed: number) {
    this.#platform = platform;
    this.folder = platform.dataDir;
    this.ledger = join(this.folder, 'ledger.txt');
    this.#chance = new Chance(seed);
    this.#client = new Client(platform.local.url, platform.local.token);
    operate(platform.local);
  }

  static async start(seed: number): Promise<Campaign> {
    const campaign = new Campaign(await PlatformProcess.start(), seed);
    for (let n = 0; n < workspaceCount; n++) campaign.places.push(await campaign.#place(`chaos-${n}`));
    return campaign;
  }

  get client(): Client {
    return this.#client;
  }

  get local() {
    return this.#platform.local;
  }

  async #place(name: string): Promise<Place> {
    const { id } = await this.#client.createWorkspace(this.local.organization, name);
    const [canary, fromEnvironment] = this.canaries as [string, string];
    await this.#client.setVariable(id, { key: 'canary', value: canary, sensitive: true });
    await this.#client.setVariable(id, { key: 'CANARY', value: fromEnvironment, category: 'env', sensitive: true });
    const versions: string[] = [];
    for (const names of resourceSets) {
      const files = { 'main.tf': configuration(this.ledger, name, names, this.#chance.integer(3)) };
      versions.push((await this.#client.upload(id, await packFiles(files))).id);
    }
    return { id, name, versions };
  }

  /** Does something random again and again. */
  async rage(ms: number): Promise<void> {
    const end = Date.now() + ms;
    let quietAt = 0;
    while (Date.now() < end) {
      if (Date.now() > quietAt) {
        await this.#putFaults(this.#chance.faults());
        quietAt = Date.now() + 10_000;
      }
      const what = this.#chance.weighted({
        create: 30,
        confirm: 15,
        cancel: 5,
        discard: 2,
        forceCancel: 2,
        killRunner: 4,
        freezeRunner: 3,
        killPlatform: 1.5,
        stopPlatform: 0.5,
      });
      try {
        await this.#deeds[what]();
      } catch (error) {
        // What a client is told while everything fails; that it was told is enough.
        if (!(error instanceof ApiError) && !(error instanceof TypeError)) throw error;
        this.tally.note(error instanceof ApiError ? `answer ${error.status}` : 'no answer', error.message);
      }
      await sleep(this.#chance.between(100, 1200));
    }
  }

  readonly #deeds = {
    create: async () => {
      if (runners(this.folder).length >= mostRunners || (await this.openRuns()).length >= mostOpenRuns) return;
      const place = this.#chance.one(this.places);
      const kind = this.#chance.weighted({ apply: 10, confirm: 4, destroy: 2, planOnly: 2, savePlan: 1 });
      const attributes = {
        apply: { 'auto-apply': true },
        confirm: {},
        destroy: { 'auto-apply': true, 'is-destroy': true },
        planOnly: { 'plan-only': true },
        savePlan: { 'save-plan': true },
      }[kind];
      const { id } = await this.#client.createRun(place.id, attributes, this.#chance.one(place.versions));
      this.acknowledged.add(id);
      this.tally.note('run created', `${id} ${kind} ${place.name}`);
    },
    confirm: () => this.#actOnOne('apply', (run) => run.attributes.actions['is-confirmable']),
    discard: () => this.#actOnOne('discard', (run) => run.attributes.actions['is-discardable']),
    cancel: () => this.#actOnOne('cancel', (run) => run.attributes.actions['is-cancelable']),
    forceCancel: async () => {
      const run = this.#chance.one((await this.openRuns()).filter((one) => one.attributes.actions['is-cancelable']));
      if (!run) return;
      await this.#client.act(run.id, 'cancel');
      await endCoolOff(run.id);
      this.violence.push({ runId: run.id, what: 'force-canceled', at: Date.now() });
      await this.#client.act(run.id, 'force-cancel');
      this.tally.note('force-cancel', run.id);
    },
    killRunner: async () => this.#hurt('killed', 'SIGKILL'),
    freezeRunner: async () => {
      const thaw = this.#hurt('frozen', 'SIGSTOP');
      setTimeout(thaw, this.#chance.between(1000, 90_000)).unref();
    },
    killPlatform: async () => {
      await this.#platform.stop('SIGKILL');
      this.tally.note('platform killed');
      await this.#restart();
    },
    stopPlatform: async () => {
      await this.#platform.stop('SIGTERM');
      this.tally.note('platform stopped');
      await this.#restart();
    },
  };

  async #actOnOne(action: RunAction, may: (run: Resource) => boolean): Promise<void> {
    const runs = (await this.openRuns()).filter(may);
    const run = this.#chance.one(runs);
    if (!run) return;
    await this.#client.act(run.id, action);
    this.tally.note(action, run.id);
  }

  /** @returns what wakes it */
  #hurt(what: Violence['what'], name: NodeJS.Signals): () => void {
    const runner = this.#chance.one(runners(this.folder));
    if (!runner) return () => {};
    this.violence.push({ runId: runner.startedBy ?? '', what, at: Date.now() });
    send(runner, name);
    this.tally.note(`runner ${what}`, runner.startedBy);
    return () => send(runner, 'SIGCONT');
  }

  async #restart(): Promise<void> {
    await sleep(this.#chance.between(0, 2000));
    await this.#platform.start();
    this.#client = new Client(this.local.url, this.local.token);
    operate(this.local);
    await this.#putFaults(this.#chance.faults());
  }

  async #putFaults(rules: FaultRule[]): Promise<void> {
    await this.countFaults();
    const answer = await fetch(`${this.local.awsEndpointUrl}/_faults`, { method: 'PUT', body: JSON.stringify(rules) });
    if (!answer.ok) throw new Error(`fault rules: ${await answer.text()}`);
  }

  async countFaults(): Promise<void> {
    const rules = (await (await fetch(`${this.local.awsEndpointUrl}/_faults`)).json()) as CountedRule[];
    for (const { kind, service, injected } of rules) {
      const name = `fault ${kind}${service ? ` ${service}` : ''}`;
      this.tally.add(name, injected);
    }
  }

  async openRuns(): Promise<Resource[]> {
    const runs = await Promise.all(this.places.map(({ id }) => this.#client.list(runsOf(id))));
    return runs.flat().filter((run) => !isFinalRun(run));
  }

  /**
   * No more faults; everybody does what is expected of them, until all has ended.
   * @returns what does not hold
   */
  async settle(): Promise<string[]> {
    const begun = Date.now();
    await this.#putFaults([]);
    for (const runner of runners(this.folder)) send(runner, 'SIGCONT');
    const audit = new Audit(this);
    let first: string | undefined;
    for (;;) {
      for (const run of await this.openRuns()) {
        const { 'is-confirmable': waits, 'is-discardable': open } = run.attributes.actions;
        if (waits && open)
          await this.#client.act(run.id, run.attributes['save-plan'] ? 'discard' : 'apply').catch(() => {});
      }
      const unsettled = await audit.unsettled();
      if (unsettled.length === 0) break;
      if (unsettled[0] !== first) this.tally.say('waiting', unsettled.join(', '));
      first = unsettled[0];
      await this.#sweep();
      if (Date.now() - begun > quietMs) return [...unsettled, ...(await audit.findings())];
      await sleep(2000);
    }
    this.tally.note(`settled after ${Math.round((Date.now() - begun) / 1000)} s`);
    const findings = await audit.findings();
    for (const reason of audit.reasons) this.tally.say('errored', reason);
    for (const [status, count] of audit.statuses) this.tally.add(`run ${status}`, count);
    return findings;
  }

  /** Its minute passes faster here. */
  async #sweep(): Promise<void> {
    const endpoint = this.local.awsEndpointUrl;
    await new LambdaClient({ endpoint }).send(new InvokeCommand({ FunctionName: 'SweepFunction' }));
  }

  async end(): Promise<void> {
    for (const runner of runners(this.folder)) send(runner, 'SIGKILL');
    await this.#platform.stop();
  }
}
