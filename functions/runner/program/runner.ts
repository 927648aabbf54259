import { randomBytes } from 'node:crypto';
import { messageOf } from '#platform/net/transport/errors.ts';
import type { Job, ReadyAnswer } from '#run/protocols/runner.ts';
import { claimJob } from './client.ts';
import type { Control } from './control.ts';
import { TokenDeadError } from './errors.ts';
import type { Phase } from './phase.ts';
import { awaitReservation, isWarm, newKey } from './ready.ts';
import type { Settings } from './settings.ts';
import { isSeparated, takeUsers, type Users } from './terraform/users.ts';
import type { JobDirectory, JobRoot } from './workspace/job-directory.ts';
import type { Planned } from './workspace/record.ts';

/** With pauses of at least this length the run is waiting for a user, so the runner does its deferred work. */
const idlePauseMs = 500;

const newNonce = (): string => randomBytes(12).toString('base64url');

/**
 * A runner's lifecycle: waits for a run if it was started ahead of one, claims it, runs the phase, and after a plan
 * stays ready for the apply.
 */
export class Runner {
  readonly #settings: Settings;
  #root: JobRoot | undefined;
  #users: Users | undefined;
  #files: JobDirectory | undefined;
  #control: Control | undefined;
  /** When the runner got its run, in the clock of performance.now(). */
  #begunMs: number;
  readonly #stopped = new AbortController();

  constructor(settings: Settings, begunMs: number) {
    this.#settings = settings;
    this.#begunMs = begunMs;
  }

  /** Stop request of the host, which allows two minutes. */
  stop(): void {
    this.#stopped.abort();
    this.#control?.stop();
  }

  /** Whether a phase is running that can still be stopped in order. */
  get isWorking(): boolean {
    return this.#control !== undefined && !this.#control.isClosed && !this.#stopped.signal.aborted;
  }

  /** Removes its files. */
  close(): void {
    if (this.#files) this.#files.remove();
    else this.#root?.remove();
    this.#users?.plan.room?.close();
  }

  /** @returns the program's exit code: 0 if the run needs no repair */
  async run(): Promise<number> {
    try {
      const { claim, url } = this.#settings;
      const sent = Promise.withResolvers<void>();
      // Loaded while the control plane handles the claim, so that loading does not delay it.
      const place = sent.promise.then(loadModules).then((modules) => this.#makePlace(modules));
      place.catch(() => {});
      const own = isWarm(claim) ? await this.#awaitRun(claim, sent.resolve) : claim;
      if (!own) return 0;
      const job = await claimJob(url, { claim: own, nonce: newNonce() }, sent.resolve);
      return await this.#work(await place, job);
    } catch (error) {
      if (error instanceof TokenDeadError || this.#control?.over.aborted) {
        console.error(`no job for this runner: ${messageOf(error)}`);
        return 0;
      }
      console.error(messageOf(error));
      return 1;
    }
  }

  async #awaitRun(claim: string, onRegistered: () => void): Promise<string | undefined> {
    const { signal } = this.#stopped;
    const run = await awaitReservation(this.#settings.url, { claim, key: newKey() }, { signal, onWait: onRegistered });
    this.#begunMs = performance.now();
    return run;
  }

  #makePlace(modules: Modules): Place {
    const root = new modules.JobRoot(isSeparated(this.#settings));
    this.#root = root;
    const users = takeUsers(this.#settings, root.path);
    this.#users = users;
    return { ...modules, root, users };
  }

  async #work({ JobDirectory, Phase, conclude, plan, apply, root, users }: Place, job: Job): Promise<number> {
    const owners = { user: users[job.phase].owner, reader: users.reader.owner };
    const files = new JobDirectory(job.workspace.name, owners, root);
    this.#files = files;
    const begin = (of: Job) => this.#begin(new Phase(of, this.#settings, files, users));
    const phase = begin(job);
    phase.timings.ms.start = Math.round(performance.now() - this.#begunMs);
    if (job.phase === 'apply') return applied({ conclude, apply }, phase);
    const work = await otherWork(phase);
    if (work) return exitCode((await conclude(phase, work)).defect);
    const key = newKey();
    const { result: prepared, next: answer, defect } = await conclude(phase, () => plan(phase), key);
    try {
      const next = prepared && (await this.#awaitApply(phase, answer, key));
      if (!next) return exitCode(defect);
      // Before any file of the apply is written.
      const left = files.renew(users.apply.owner);
      const sameIdentity = identityOf(next) === identityOf(job);
      const planned = { prepared, left, of: users.plan.owner, sameIdentity };
      return await applied({ conclude, apply }, begin(next), planned);
    } finally {
      await phase.afterwards.run();
    }
  }

  #begin(phase: Phase): Phase {
    this.#control = phase.control;
    if (this.#stopped.signal.aborted) phase.control.stop();
    return phase;
  }

  /** @returns the job, if the run is applied while this runner is ready */
  async #awaitApply({ job, afterwards }: Phase, first: ReadyAnswer, key: string): Promise<Job | undefined> {
    const { url } = this.#settings;
    const claim = await awaitReservation(
      url,
      { claim: `${job.runId}.apply`, key },
      {
        signal: this.#stopped.signal,
        first,
        onWait: (ms) => {
          if (ms > idlePauseMs) void afterwards.run();
        },
      },
    );
    return claim ? claimJob(url, { claim, nonce: newNonce() }) : undefined;
  }
}

/** Work of a phase that does not plan; undefined for a plan. */
const otherWork = async (phase: Phase): Promise<(() => Promise<void>) | undefined> => {
  const { tests, queries } = phase.job.operation;
  if (tests) {
    const { test } = await import('./test.ts');
    return () => test(phase);
  }
  if (!queries) return undefined;
  const { query } = await import('./query.ts');
  return () => query(phase);
};

const applied = async (
  { conclude, apply }: Pick<Modules, 'conclude' | 'apply'>,
  phase: Phase,
  planned?: Planned,
): Promise<number> => {
  const { defect } = await conclude(phase, () => apply(phase, planned));
  await phase.afterwards.run();
  return exitCode(defect);
};

/** Roles, audiences and the like of the run's credentials, without their tokens. */
const identityOf = ({ identity }: Job): string =>
  JSON.stringify([identity?.credentials.map(({ token: _, ...of }) => of), identity?.backed]);

const exitCode = (defect: unknown): number => (defect === undefined ? 0 : 1);

/** Modules that a runner needs once it has a job. */
const loadModules = async () => {
  const [{ JobDirectory, JobRoot }, { Phase }, { conclude }, { plan }, { apply }] = await Promise.all([
    import('./workspace/job-directory.ts'),
    import('./phase.ts'),
    import('./conclude.ts'),
    import('./plan.ts'),
    import('./apply.ts'),
  ]);
  return { JobDirectory, JobRoot, Phase, conclude, plan, apply };
};

type Modules = Awaited<ReturnType<typeof loadModules>>;

interface Place extends Modules {
  root: JobRoot;
  users: Users;
}
