import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { applyChanges } from '#platform/formats/state-changes.ts';
import type { OpenChange } from '#run/apply-progress.ts';
import type {
  Artifact,
  ClaimRequest,
  Heartbeat,
  HeartbeatRequest,
  Job,
  PhaseReport,
  ReadyAnswer,
  ReadyRequest,
  ReportAnswer,
  ReportRequest,
  StateChangesRequest,
  StateVersionRequest,
  UploadsRequest,
} from '#run/protocols/runner.ts';

/**
 * In-memory test double of the control plane (functions/run/protocols/runner.ts). It is strict: requests that the
 * protocol does not allow get an error and are recorded in `violations`, which every test expects to be empty.
 */

export interface StoredState extends Omit<StateVersionRequest, 'content'> {
  id: string;
  completed: boolean;
  content?: Buffer;
}

interface PhaseRecord {
  job: Job;
  nonce?: string;
  dead?: boolean;
  /** As readers see it: the pieces, and the stored log after the phase was reported. */
  log: Buffer;
  logCalls: { offset: number; length: number; at: number }[];
  heartbeats: number;
  /** The unfinished changes in each heartbeat that lists them. */
  open: OpenChange[][];
  uploaded: Set<Artifact>;
  report?: PhaseReport;
  reports: number;
}

/** Faults that replace the usual response to a request. */
export type Fault = 'refuse' | 'lose-answer' | 'fail' | 'expired' | 'credentials-ended' | 'request-timeout' | undefined;

/** Error texts of S3 (S3: error responses). */
const refusals: Partial<Record<Exclude<Fault, undefined>, string>> = {
  'credentials-ended': '<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>',
  'request-timeout':
    '<Error><Code>RequestTimeout</Code><Message>Your socket connection to the server was not read from or written to within the timeout period.</Message></Error>',
};

export class ControlPlane {
  readonly objects = new Map<string, Buffer>();
  readonly states: StoredState[] = [];
  readonly violations: string[] = [];
  readonly calls: string[] = [];
  signal: Heartbeat['signal'] = 'continue';
  /** Responses to a plan's runner: to its report, and to its polls. */
  ready: ReadyAnswer = { action: 'exit' };
  /** Key that the plan's runner sent with its report. */
  #key: string | undefined;
  #reserved: PhaseRecord | undefined;
  /** Accepts states whose content is in the request that announces them. */
  takesContent = false;
  takesChanges = true;
  /** Accepts uploads after a phase's report. Each needs another command of Terraform. */
  takesLater = false;
  /** Bytes of request bodies. */
  received = 0;
  /** Called for each request, with its path (`/runner/v1/log`, `/objects/…`). */
  fault: (path: string, method: string) => Fault = () => undefined;
  /** Interrupts the next larger download after this many bytes. */
  cutAfter: number | undefined;
  readonly #phases = new Map<string, PhaseRecord>();
  readonly #claims = new Map<string, PhaseRecord>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<ControlPlane> {
    const server = createServer();
    const plane = new ControlPlane(server);
    server.on('request', (request, response) => {
      plane.#serve(request, response).catch((error: unknown) => {
        plane.violations.push(String(error));
        response.destroy();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return plane;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /**
   * Like a presigned URL: the signature in the query and no other credentials; optionally for one content only (hex
   * SHA-256).
   */
  presigned(key: string, sha256 = ''): string {
    return `${this.url}/objects/${key}?X-Amz-Signature=${signature(key, sha256)}`;
  }

  /** Expires the presigned URLs, except those whose key has this ending. */
  expire(...spared: string[]): void {
    this.fault = (path) =>
      path.startsWith('/objects/') && !spared.some((end) => path.endsWith(end)) ? 'expired' : undefined;
  }

  /** Offers a job to the runner with the claim. */
  offer(job: Job): { claim: string; record: PhaseRecord } {
    const record = this.#record(job);
    const claim = `claim-${randomUUID()}`;
    this.#claims.set(claim, record);
    return { claim, record };
  }

  /** Keeps plans' runners ready. */
  keepReady(): void {
    this.ready = { action: 'wait', afterMs: 100 };
  }

  /** Reserves the plan's runner for the apply. */
  reserve(job: Job): PhaseRecord {
    this.#reserved = this.#record(job);
    this.ready = { action: 'claim', claim: `${job.runId}.apply` };
    return this.#reserved;
  }

  /** Revokes all tokens. */
  disown(): void {
    for (const record of this.#phases.values()) record.dead = true;
  }

  current(): StoredState | undefined {
    return this.states.filter(({ completed }) => completed).at(-1);
  }

  #record(job: Job): PhaseRecord {
    const record: PhaseRecord = {
      job,
      log: Buffer.alloc(0),
      logCalls: [],
      heartbeats: 0,
      open: [],
      uploaded: new Set(),
      reports: 0,
    };
    this.#phases.set(job.token, record);
    return record;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const { method = '' } = request;
    this.calls.push(`${method} ${url.pathname}`);
    const fault = this.fault(url.pathname, method);
    if (fault === 'refuse') {
      request.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    this.received += body.length;
    if (fault === 'fail') return this.#answer(response, 503, { error: 'try again' });
    if (fault === 'expired') return this.#answer(response, 403, { error: 'Request has expired' });
    const refused = fault && refusals[fault];
    if (refused) return void response.writeHead(400, { 'content-type': 'application/xml' }).end(refused);
    const [status, answer] = url.pathname.startsWith('/objects/')
      ? this.#object(method, url, request, body)
      : this.#call(url, request, body);
    if (fault === 'lose-answer') response.destroy();
    else this.#answer(response, status, status === 409 ? { error: answer } : answer);
  }

  #answer(response: ServerResponse, status: number, answer: unknown): void {
    // 412: a repeated upload whose response was lost.
    if (status >= 400 && ![401, 410, 412, 503].includes(status)) {
      this.violations.push(`${status} ${JSON.stringify(answer)}`);
    }
    if (Buffer.isBuffer(answer) && this.cutAfter !== undefined && answer.length > this.cutAfter) {
      response.writeHead(status, { 'content-length': answer.length });
      response.write(answer.subarray(0, this.cutAfter), () => response.destroy());
      this.cutAfter = undefined;
      return;
    }
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(Buffer.isBuffer(answer) ? answer : JSON.stringify(answer));
  }

  #object(method: string, url: URL, request: IncomingMessage, body: Buffer): [number, unknown] {
    const key = url.pathname.slice('/objects/'.length);
    if (request.headers.authorization) return [400, 'only one auth mechanism allowed'];
    const sha256 = Buffer.from(String(request.headers['x-amz-checksum-sha256'] ?? ''), 'base64').toString('hex');
    if (url.searchParams.get('X-Amz-Signature') !== signature(key, sha256)) return [403, 'wrong signature'];
    if (sha256 && sha256 !== createHash('sha256').update(body).digest('hex')) return [400, 'BadDigest'];
    if (method === 'PUT') {
      if (request.headers['if-none-match'] === '*' && this.objects.has(key)) return [412, 'PreconditionFailed'];
      if (request.headers['content-length'] === undefined) return [411, 'no content-length'];
      this.objects.set(key, body);
      return [200, ''];
    }
    const found = this.objects.get(key);
    return found ? [200, found] : [404, 'NoSuchKey'];
  }

  #call(url: URL, request: IncomingMessage, body: Buffer): [number, unknown] {
    const call = url.pathname.replace('/runner/v1/', '');
    if (request.method !== 'POST') return [405, 'POST only'];
    if (call === 'claim') return this.#claim(JSON.parse(body.toString()) as ClaimRequest);
    if (call === 'ready') return this.#ready(JSON.parse(body.toString()) as ReadyRequest);
    const record = this.#phases.get(request.headers.authorization?.replace('Bearer ', '') ?? '');
    if (!record) return [401, 'invalid token'];
    if (record.dead) return [410, 'dead token'];
    const beat: Heartbeat = { signal: this.signal };
    const completed = /^state-versions\/(.+)\/complete$/.exec(call)?.[1];
    if (completed) return this.#complete(completed);
    switch (call) {
      case 'log':
        return this.#log(record, Number(url.searchParams.get('offset')), body, beat);
      case 'heartbeat':
        record.heartbeats++;
        if (body.length) record.open.push((JSON.parse(body.toString()) as HeartbeatRequest).open);
        return url.searchParams.get('renew') === 'errored-state'
          ? [200, { ...beat, erroredStateUrl: this.presigned(`${record.job.runId}/errored-state`) }]
          : [200, beat];
      case 'uploads':
        return this.#uploads(record, JSON.parse(body.toString()) as UploadsRequest);
      case 'state-versions':
        return this.#stateVersion(record, JSON.parse(body.toString()) as StateVersionRequest);
      case 'state-changes':
        return this.#stateChanges(JSON.parse(body.toString()) as StateChangesRequest);
      case 'errored-state':
        return [200, { uploadUrl: this.presigned(`${record.job.runId}/errored-state`) }];
      case 'report':
        record.report = this.#stored(record.job, JSON.parse(body.toString()) as ReportRequest);
        record.reports++;
        if (record.report?.artifacts?.log) this.#readStored(record);
        return [200, this.#reported(record.job, record.report)];
      default:
        return [404, `no call ${call}`];
    }
  }

  #stored({ runId, phase }: Job, { enclosed = {}, key, ...report }: ReportRequest): PhaseReport {
    this.#key = key;
    for (const [name, base64] of Object.entries(enclosed))
      this.objects.set(`${runId}/${phase}/${name}`, Buffer.from(base64, 'base64'));
    return report;
  }

  #readStored(record: PhaseRecord): void {
    const whole = this.objects.get(`${record.job.runId}/${record.job.phase}/log`) ?? Buffer.alloc(0);
    if (!whole.subarray(0, record.log.length).equals(record.log))
      this.violations.push('the stored log is not what its readers had so far');
    record.log = whole;
  }

  #reported({ runId, phase }: Job, { hasChanges, stateVersionId }: PhaseReport): ReportAnswer {
    const next: ReadyAnswer = phase === 'plan' && hasChanges ? this.ready : { action: 'exit' };
    if (!this.takesLater) return { next, laterUrls: {} };
    const json = stateVersionId && this.presigned(`${stateVersionId}.json`);
    return {
      next,
      laterUrls:
        phase === 'plan'
          ? { 'provider-schemas': this.presigned(`${runId}/plan/provider-schemas`) }
          : { ...(json ? { 'state-json': json } : {}) },
    };
  }

  #ready({ claim, key }: ReadyRequest): [number, unknown] {
    if (key !== this.#key || !claim.endsWith('.apply')) return [410, 'unknown runner'];
    return [200, this.ready];
  }

  #claim({ claim, nonce }: ClaimRequest): [number, unknown] {
    const reserved = this.#reserved;
    const isReserved = reserved && this.#key && claim === `${reserved.job.runId}.apply.${this.#key}`;
    const record = isReserved ? reserved : this.#claims.get(claim);
    if (!record || (record.nonce !== undefined && record.nonce !== nonce)) return [410, 'void claim'];
    // Removes objects that another job of the test has left under the same keys.
    const { runId, phase } = record.job;
    if (record.nonce === undefined) {
      for (const key of this.objects.keys()) if (key.startsWith(`${runId}/${phase}/`)) this.objects.delete(key);
    }
    record.nonce = nonce;
    return [200, record.job];
  }

  #log(record: PhaseRecord, offset: number, body: Buffer, beat: Heartbeat): [number, unknown] {
    if (body.length > 65_536) return [413, 'too long a piece'];
    record.logCalls.push({ offset, length: body.length, at: Date.now() });
    if (offset === record.log.length) record.log = Buffer.concat([record.log, body]);
    // A repeated piece must be identical.
    else if (!record.log.subarray(offset, offset + body.length).equals(body)) return [422, `log at ${offset}`];
    return [200, beat];
  }

  #uploads({ job }: PhaseRecord, { artifacts }: UploadsRequest): [number, unknown] {
    return [
      200,
      { urls: Object.fromEntries(artifacts.map((one) => [one, this.presigned(`${job.runId}/${job.phase}/${one}`)])) },
    ];
  }

  #stateVersion({ job }: PhaseRecord, { content, ...wanted }: StateVersionRequest): [number, unknown] {
    if (job.phase !== 'apply') return [409, 'a plan cannot change state'];
    const last = this.states.at(-1);
    const same = this.states.find(({ serial, md5 }) => serial === wanted.serial && md5 === wanted.md5);
    if (same) {
      same.intermediate &&= wanted.intermediate;
      return [200, { id: same.id, uploadUrl: same.completed ? null : this.presigned(same.id, wanted.sha256) }];
    }
    if (last && wanted.serial <= last.serial) return [409, `serial ${wanted.serial} after ${last.serial}`];
    if (last && wanted.lineage !== last.lineage) return [409, 'another lineage'];
    const id = `sv-${this.states.length + 1}`;
    this.states.push({ ...wanted, id, completed: false });
    if (content !== undefined && this.takesContent) {
      this.objects.set(id, Buffer.from(content, 'base64'));
      const [status, answer] = this.#complete(id);
      return status === 200 ? [200, { id, uploadUrl: null, complete: true }] : [status, answer];
    }
    return [200, { id, uploadUrl: this.presigned(id, wanted.sha256) }];
  }

  /** The state that would remain if the runner ended now. */
  newest: Buffer | undefined;

  #stateChanges({ before, first, changes }: StateChangesRequest): [number, unknown] {
    if (!this.takesChanges) return [404, 'unknown call: state-changes'];
    const base = first ? this.current()?.content : this.newest;
    if (!base || createHash('md5').update(base).digest('hex') !== before) return [409, 'before: another state'];
    this.newest = applyChanges(base, Buffer.from(changes, 'base64'), base.length * 2 + 1_000_000);
    return [200, {}];
  }

  #complete(id: string): [number, unknown] {
    const state = this.states.find((one) => one.id === id);
    const content = this.objects.get(id);
    if (!state || !content) return [409, 'not uploaded'];
    if (createHash('md5').update(content).digest('hex') !== state.md5) return [422, 'another content'];
    Object.assign(state, { completed: true, content });
    return [200, {}];
  }
}

const signature = (key: string, sha256: string): string =>
  createHash('sha256').update(`secret ${key} ${sha256}`).digest('hex').slice(0, 16);

export type { PhaseRecord };
