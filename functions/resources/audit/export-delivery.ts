import { environment } from '#platform/environment.ts';
import { OutboundError } from '#platform/net/outbound/errors.ts';
import { send } from '#platform/net/outbound/send.ts';
import { now } from '#platform/store/time.ts';
import { getOrganization, type Organization } from '#resources/organizations/records.ts';
import { auditDocuments } from './document.ts';
import { type AuditExport, endAuditExport, getAuditExport, headersOf, moveExport } from './export-records.ts';
import { type AuditEvent, eventsSince } from './records.ts';

/**
 * Delivers the audit trail in batches with consecutive numbers, each at least once and in order: the next one is sent
 * after the endpoint has accepted the one before. A repeated batch has the same number and the same events.
 */

/** An event is stored within the time limit of its request, and its failure marker with it. */
const settledMs = 120_000;
const batchSize = 500;
/** One invocation sends at most so many: 10 s each in the worst case. */
const maxBatches = 4;
const intervalSeconds = 60;
/** Longer than an invocation, so that two do not deliver at once. */
const leaseSeconds = 90;

interface Batch {
  events: AuditEvent[];
  until: string;
}

/** Ends between two milliseconds, because events are continued by time. */
const nextBatch = async ({ organization, until, sendingUntil }: AuditExport, settled: string): Promise<Batch> => {
  const end = sendingUntil ?? settled;
  const events: AuditEvent[] = [];
  for await (const event of eventsSince(organization, until)) {
    const previous = events.at(-1);
    const isFull = sendingUntil === undefined && events.length >= batchSize && event.at !== previous?.at;
    if (event.at > end || isFull) return { events, until: previous?.at ?? end };
    events.push(event);
  }
  return { events, until: sendingUntil ?? events.at(-1)?.at ?? end };
};

/** @returns the reason of a failure */
const sendBatch = async (
  home: Organization,
  to: AuditExport,
  { events, until }: Batch,
): Promise<string | undefined> => {
  const lines = await auditDocuments(home, events, { withResources: true });
  const headers = {
    // Opened for each batch: the URL may be another one since the last.
    ...(await headersOf(to)),
    'content-type': 'application/x-ndjson',
    'user-agent': `stepform (+${environment.publicUrl})`,
    'x-stepform-organization': home.shownName ?? home.name,
    'x-stepform-sequence': String(to.sequence + 1),
    'x-stepform-until': until,
  };
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  try {
    const { status } = await send({ method: 'POST', url: to.url, headers, body }, { sameOrigin: true });
    return status >= 200 && status < 300 ? undefined : `the endpoint answered with status ${status}`;
  } catch (error) {
    if (error instanceof OutboundError) return error.message;
    throw error;
  }
};

/** Sends the batches that are due. Can be repeated. */
export const deliverAuditExport = async (organization: string): Promise<void> => {
  const found = await getAuditExport(organization);
  const home = found && (await getOrganization(organization));
  if (!home) {
    // It was set while the organization was being deleted.
    if (found) await endAuditExport(organization);
    return;
  }
  let current = await moveExport(found, {}, { dueInSeconds: leaseSeconds });
  for (let sent = 0; current && sent < maxBatches; sent++) {
    const settled = new Date(Date.now() - settledMs).toISOString();
    // A new export begins later than what has settled.
    if (settled <= current.until) break;
    const batch = await nextBatch(current, settled);
    if (batch.events.length === 0) {
      await moveExport(current, { until: batch.until }, { dueInSeconds: intervalSeconds, remove: ['sendingUntil'] });
      return;
    }
    current = await moveExport(current, { sendingUntil: batch.until }, { dueInSeconds: leaseSeconds });
    if (!current) return;
    const failure = await sendBatch(home, current, batch);
    if (failure !== undefined) {
      const failingSince = current.failingSince ?? now();
      await moveExport(current, { failure, failingSince }, { dueInSeconds: intervalSeconds });
      return;
    }
    current = await moveExport(
      current,
      { sequence: current.sequence + 1, until: batch.until, deliveredAt: now() },
      { dueInSeconds: leaseSeconds, remove: ['sendingUntil', 'failure', 'failingSince'] },
    );
  }
  if (current) await moveExport(current, {}, { dueInSeconds: intervalSeconds });
};
