import { ListExecutionsCommand, SFNClient } from '@aws-sdk/client-sfn';
import { type Document, isFinalRun, type Resource } from '#clients/client/client.ts';
import { runners } from '#test/e2e/support/runners.ts';
import { type Campaign, runsOf } from './campaign.ts';
import { type Entry, readLedger } from './ledger.ts';
import { leftovers } from './processes.ts';
import { secretsInFiles, secretsInItems } from './secrets.ts';
import type { Place } from './workspaces.ts';

/** All invariants at the end of a campaign. */
export class Audit {
  readonly #campaign: Campaign;
  readonly statuses = new Map<string, number>();
  /** Reasons of errored runs. */
  readonly reasons: string[] = [];

  constructor(campaign: Campaign) {
    this.#campaign = campaign;
  }

  /** Unfinished runs. */
  async unsettled(): Promise<string[]> {
    const { client, places, folder } = this.#campaign;
    const open = (await this.#campaign.openRuns()).map((run) => `run ${run.id} is ${run.attributes.status}`);
    const locked: string[] = [];
    for (const { id, name } of places)
      if ((await client.get(`/workspaces/${id}`)).attributes.locked) locked.push(`workspace ${name} is locked`);
    const executions = (await this.#executions()).map((name) => `execution ${name} is running`);
    const tasks = runners(folder).map(({ startedBy }) => `a runner of ${startedBy} is running`);
    const environments = await this.#campaign.environments.unsettled();
    const pushes = await this.#campaign.pushes.unsettled();
    return [...open, ...locked, ...executions, ...tasks, ...environments, ...pushes, ...leftovers(folder)];
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
    const problems: string[] = [];
    const visited = new Set<string>();
    for (const place of this.#campaign.places) {
      const runs = await this.#all(runsOf(place.id));
      const entries = ledger.filter(({ workspace }) => workspace === place.name);
      const changing = new Set(entries.map(({ run }) => run));
      for (const run of runs) {
        const { id, attributes } = run;
        visited.add(id);
        problems.push(...this.#campaign.model.contradictions(run, changing.has(id)));
        problems.push(...(await this.#openResults(run)));
        if (attributes.status === 'errored') this.reasons.push(`${id}: ${attributes['end-reason']}`);
        this.statuses.set(attributes.status, (this.statuses.get(attributes.status) ?? 0) + 1);
      }
      problems.push(
        ...inOrder(place, runs),
        ...oneAtATime(place, runs, entries),
        ...(await this.#states(place)),
        ...(await this.#resources(place, entries)),
      );
    }
    const { acknowledged } = this.#campaign.model;
    for (const id of acknowledged) if (!visited.has(id)) problems.push(`run ${id} was created, and is not there`);
    for (const { run } of ledger)
      if (!visited.has(run)) problems.push(`run ${run} changed something, and is not there`);
    const { folder, canaries, local, environments } = this.#campaign;
    problems.push(...(await environments.findings()), ...(await this.#campaign.pushes.findings()));
    return [...new Set(problems), ...secretsInFiles(folder, canaries), ...(await secretsInItems(local, canaries))];
  }

  /** Waits that an ended run still seems to have. */
  async #openResults({ id, relationships = {} }: Resource): Promise<string[]> {
    const { client } = this.#campaign;
    const { included = [] } = await client.call<Resource[]>(
      'GET',
      `/runs/${id}/task-stages?include=task_results,policy_evaluations`,
    );
    const estimate = relationships['cost-estimate']?.data as { id: string } | null | undefined;
    const parts = estimate ? [...included, await client.get(`/cost-estimates/${estimate.id}`)] : included;
    return parts
      .filter(({ attributes: { status } }) => status === 'running')
      .map((part) => `${id} is over, and ${part.id} is ${part.attributes.status}`);
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

  async #versions(name: string): Promise<Resource[]> {
    const query = `filter[workspace][name]=${name}&filter[organization][name]=${this.#campaign.local.organization}`;
    return (await this.#all(`/state-versions?${query}`))
      .filter(({ attributes }) => attributes.status === 'finalized')
      .sort((a, b) => a.attributes.serial - b.attributes.serial);
  }

  /** Serials increase, and the newest version is the current one. */
  async #states({ id, name }: Place): Promise<string[]> {
    const { client } = this.#campaign;
    const versions = await this.#versions(name);
    const problems: string[] = [];
    versions.forEach((version, n) => {
      const before = versions[n - 1];
      if (!before) return;
      if (before.attributes.serial === version.attributes.serial)
        problems.push(`${name}: serial ${version.attributes.serial} is there twice: ${before.id}, ${version.id}`);
      if (before.attributes.lineage !== version.attributes.lineage)
        problems.push(`${name}: ${version.id} has another lineage`);
    });
    const newest = versions.at(-1);
    const current = await client.get(`/workspaces/${id}/current-state-version`).catch(() => undefined);
    if (newest?.id !== current?.id)
      problems.push(
        `${name}: the newest state is ${newest?.id} (${newest?.attributes.serial}), current is ${current?.id}`,
      );
    return problems;
  }

  /**
   * Each real resource is in a state or covered by a lock: resources that were created and not destroyed are in the
   * state, and vice versa, or the workspace was locked by the run at its end.
   */
  async #resources({ id, name }: Place, entries: Entry[]): Promise<string[]> {
    const { client, model } = this.#campaign;
    const current = await client.get(`/workspaces/${id}/current-state-version`).catch(() => undefined);
    const present = new Set(current ? (await this.#instances(current)).map((one) => one.id) : []);
    const last = new Map(entries.map((entry) => [entry.id, entry]));
    const wrong = [...last].filter(
      ([resource, { what, run }]) => (what === 'create') !== present.has(resource) && !model.lockedBy.has(run),
    );
    const tainted = wrong.length ? await this.#tainted(name) : new Set<string>();
    const problems = wrong
      .filter(([resource, { what }]) => what === 'destroy' || !tainted.has(resource))
      .map(([resource, { what, run, at }]) => {
        const fate = what === 'create' ? 'was created, and is not in the state' : 'was destroyed, and is in the state';
        return `${name}: ${resource} ${fate}, and no lock says so (${run}, ${new Date(at).toISOString()})`;
      });
    for (const resource of present)
      if (!last.has(resource)) problems.push(`${name}: ${resource} is in the state, and was never made`);
    return problems;
  }

  /** Resources that report to the ledger. */
  async #instances({ id }: Resource): Promise<{ id: string; tainted: boolean }[]> {
    const state = JSON.parse(await this.#campaign.client.text(`/state-versions/${id}/download`)) as State;
    return state.resources
      .filter((resource) => resource.name === 'all')
      .flatMap(({ instances = [] }) => instances)
      .flatMap(({ attributes, deposed, status }) =>
        deposed ? [] : [{ id: attributes.id, tainted: status === 'tainted' }],
      );
  }

  /** The state shows that its creation was interrupted: Terraform destroys such resources without a report. */
  async #tainted(name: string): Promise<Set<string>> {
    const instances = await Promise.all((await this.#versions(name)).map((version) => this.#instances(version)));
    return new Set(instances.flat().flatMap((one) => (one.tainted ? [one.id] : [])));
  }
}

interface State {
  resources: { name: string; instances?: { attributes: { id: string }; deposed?: string; status?: string }[] }[];
}

const endOf = ({ attributes: { status, 'status-timestamps': stamps } }: Resource): number =>
  Date.parse(stamps[`${status.replaceAll('_', '-')}-at`] ?? '');

/** Queued runs start in the order of their creation, each after the end of the previous one. */
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

/** No ended run creates or destroys a resource, and no two runs of a workspace do so at the same time. */
const oneAtATime = ({ name }: Place, runs: Resource[], entries: Entry[]): string[] => {
  const ended = new Map(runs.filter(isFinalRun).map((run) => [run.id, endOf(run)]));
  const over = new Set<string>();
  const problems: string[] = [];
  let current: string | undefined;
  for (const { run, at } of entries) {
    if (at > (ended.get(run) ?? Number.POSITIVE_INFINITY))
      problems.push(`${name}: ${run} changed something after its end`);
    if (run === current) continue;
    if (over.has(run)) problems.push(`${name}: ${run} and ${current} changed things at the same time`);
    if (current) over.add(current);
    current = run;
  }
  return [...new Set(problems)];
};
