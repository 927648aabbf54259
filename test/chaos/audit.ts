import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ListExecutionsCommand, SFNClient } from '@aws-sdk/client-sfn';
import { type Document, isFinalRun, type Resource } from '../../functions/cli/client.ts';
import { type Campaign, type Place, runsOf } from './campaign.ts';
import { type Entry, readLedger } from './ledger.ts';
import { runners } from './processes.ts';

/** What a runner that is killed may know and not have said: its last snapshot is this old at most, on a busy machine. */
const snapshotMs = 15_000;

/** All that must hold once everything has ended. */
export class Audit {
  readonly #campaign: Campaign;
  readonly statuses = new Map<string, number>();
  /** Why runs ended as errored. */
  readonly reasons: string[] = [];

  constructor(campaign: Campaign) {
    this.#campaign = campaign;
  }

  /** What has not ended yet. */
  async unsettled(): Promise<string[]> {
    const { client, places, folder } = this.#campaign;
    const open = (await this.#campaign.openRuns()).map((run) => `run ${run.id} is ${run.attributes.status}`);
    const locked: string[] = [];
    for (const { id, name } of places)
      if ((await client.get(`/workspaces/${id}`)).attributes.locked) locked.push(`workspace ${name} is locked`);
    const executions = (await this.#executions()).map((name) => `execution ${name} is running`);
    const tasks = runners(folder).map(({ startedBy }) => `a runner of ${startedBy} is running`);
    return [...open, ...locked, ...executions, ...tasks];
  }

  async #executions(): Promise<string[]> {
    const { awsEndpointUrl: endpoint, stateMachineArn } = this.#campaign.local;
    const client = new SFNClient({ endpoint });
    const { executions = [] } = await client.send(
      new ListExecutionsCommand({ stateMachineArn, statusFilter: 'RUNNING', maxResults: 1000 }),
    );
    return executions.map(({ name }) => name as string);
  }

  async findings(): Promise<string[]> {
    const ledger = readLedger(this.#campaign.ledger);
    const found: string[] = [];
    const seen = new Set<string>();
    for (const place of this.#campaign.places) {
      const runs = await this.#all(runsOf(place.id));
      for (const { id, attributes } of runs) {
        seen.add(id);
        if (attributes.status === 'errored') this.reasons.push(`${id}: ${attributes['end-reason']}`);
        this.statuses.set(attributes.status, (this.statuses.get(attributes.status) ?? 0) + 1);
      }
      const entries = ledger.filter(({ workspace }) => workspace === place.name);
      found.push(
        ...inOrder(place, runs),
        ...oneAtATime(place, runs, entries),
        ...(await this.#states(place)),
        ...(await this.#resources(place, runs, entries)),
      );
    }
    for (const id of this.#campaign.acknowledged)
      if (!seen.has(id)) found.push(`run ${id} was created, and is not there`);
    return [...found, ...this.#secrets()];
  }

  async #all(path: string): Promise<Resource[]> {
    const all: Resource[] = [];
    for (let page: number | null = 1; page; ) {
      const { client } = this.#campaign;
      const mark = path.includes('?') ? '&' : '?';
      const document: Document<Resource[]> = await client.call<Resource[]>(
        'GET',
        `${path}${mark}page[size]=100&page[number]=${page}`,
      );
      all.push(...document.data);
      page = document.meta?.pagination?.['next-page'] ?? null;
    }
    return all;
  }

  /** Versions follow each other, and the newest is the current one. */
  async #states({ id, name }: Place): Promise<string[]> {
    const { client, local } = this.#campaign;
    const query = `filter[workspace][name]=${name}&filter[organization][name]=${local.organization}`;
    const versions = (await this.#all(`/state-versions?${query}`))
      .filter(({ attributes }) => attributes.status === 'finalized')
      .sort((a, b) => a.attributes.serial - b.attributes.serial);
    const found: string[] = [];
    versions.forEach((version, n) => {
      const before = versions[n - 1];
      if (!before) return;
      if (before.attributes.serial === version.attributes.serial)
        found.push(`${name}: serial ${version.attributes.serial} is there twice: ${before.id}, ${version.id}`);
      if (before.attributes.lineage !== version.attributes.lineage)
        found.push(`${name}: ${version.id} has another lineage`);
    });
    const newest = versions.at(-1);
    const current = await client.get(`/workspaces/${id}/current-state-version`).catch(() => undefined);
    if (newest?.id !== current?.id)
      found.push(
        `${name}: the newest state is ${newest?.id} (${newest?.attributes.serial}), current is ${current?.id}`,
      );
    return found;
  }

  /** What was made and not destroyed is in the state; and what is in the state was made and not destroyed. */
  async #resources({ id, name }: Place, runs: Resource[], entries: Entry[]): Promise<string[]> {
    const { client, violence } = this.#campaign;
    const current = await client.get(`/workspaces/${id}/current-state-version`).catch(() => undefined);
    const known = new Set<string>();
    if (current) {
      const state = await client.text(`/state-versions/${current.id}/download`);
      for (const { instances = [] } of (JSON.parse(state) as State).resources)
        for (const { attributes, deposed } of instances) if (!deposed) known.add(attributes.id);
    }
    const last = new Map(entries.map((entry) => [entry.id, entry]));
    const applied = new Set(runs.filter(({ attributes }) => attributes.status === 'applied').map((run) => run.id));
    const excused = ({ run, at }: Entry) =>
      !applied.has(run) && violence.some((one) => one.runId === run && at > one.at - snapshotMs);
    const found: string[] = [];
    for (const [resource, entry] of last) {
      if ((entry.what === 'create') === known.has(resource) || excused(entry)) continue;
      const fate =
        entry.what === 'create' ? 'was created, and is not in the state' : 'was destroyed, and is in the state';
      found.push(`${name}: ${resource} ${fate} (${entry.run}, ${new Date(entry.at).toISOString()})`);
    }
    for (const resource of known)
      if (!last.has(resource)) found.push(`${name}: ${resource} is in the state, and was never made`);
    return found;
  }

  /** Sensitive values are in what Terraform itself was given and wrote, and nowhere else. */
  #secrets(): string[] {
    const { folder, canaries } = this.#campaign;
    const found: string[] = [];
    for (const path of files(folder)) {
      if (/s3\/.*\/(runs|states)\//.test(path) && !/\/log/.test(path)) continue;
      const content = readFileSync(path);
      if (canaries.some((canary) => content.includes(canary))) found.push(`a secret is in ${path}`);
    }
    return found;
  }
}

interface State {
  resources: { instances?: { attributes: { id: string }; deposed?: string }[] }[];
}

const files = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });

const endOf = ({ attributes: { status, 'status-timestamps': stamps } }: Resource): number =>
  Date.parse(stamps[`${status.replaceAll('_', '-')}-at`] ?? '');

/** Runs that take the queue start in the order of their creation, one when the other has ended. */
const inOrder = ({ name }: Place, runs: Resource[]): string[] => {
  const started = runs
    .filter(({ attributes }) => !attributes['plan-only'] && !attributes['save-plan'])
    .flatMap((run) => {
      const at = Date.parse(run.attributes['status-timestamps']['plan-queued-at'] ?? '');
      return Number.isNaN(at) ? [] : [{ run, at, ended: endOf(run), created: run.attributes['created-at'] as string }];
    })
    .sort((a, b) => a.at - b.at);
  return started.flatMap(({ run, at, created }, n) => {
    const before = started[n - 1];
    if (!before || (before.ended <= at && before.created <= created)) return [];
    return [`${name}: ${run.id} started out of turn, or before ${before.run.id} had ended`];
  });
};

/** Nothing is made or destroyed by a run that is over, or while another one is at it. */
const oneAtATime = ({ name }: Place, runs: Resource[], entries: Entry[]): string[] => {
  const ended = new Map(runs.filter(isFinalRun).map((run) => [run.id, endOf(run)]));
  const over = new Set<string>();
  const found: string[] = [];
  let current: string | undefined;
  for (const { run, at } of entries) {
    if (at > (ended.get(run) ?? Number.POSITIVE_INFINITY))
      found.push(`${name}: ${run} changed something after its end`);
    if (run === current) continue;
    if (over.has(run)) found.push(`${name}: ${run} and ${current} changed things at the same time`);
    if (current) over.add(current);
    current = run;
  }
  return [...new Set(found)];
};
