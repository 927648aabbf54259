import { appendFileSync } from 'node:fs';
import type { OnDecision } from '#infra/local/aws/iam/iam.ts';

/** A response of a function of the HTTP API. */
export type OnAnswer = (method: string, url: string, result: { payload: string }) => void;

interface Answer {
  statusCode: number;
  headers?: Record<string, string>;
  body?: string;
  isBase64Encoded?: boolean;
}

/** Records the API's responses, one per line, for the comparison with an API description. */
export const recorder = (file: string | undefined): OnAnswer | undefined =>
  file === undefined
    ? undefined
    : (method, url, { payload }) => {
        const { statusCode: status, headers, body, isBase64Encoded } = JSON.parse(payload) as Answer;
        if (isBase64Encoded || !url.startsWith('/api/v2/')) return;
        const contentType = headers?.['content-type'] ?? '';
        appendFileSync(file, `${JSON.stringify({ method, url, status, contentType, body })}\n`);
      };

/** Ids, and names of objects: calls that differ only in these are recorded once. */
const ids = /[\w-]{16,}/g;

/** Records the decisions on calls of functions, one per line, for the comparison with another evaluator of IAM. */
export const decisionRecorder = (file: string | undefined): OnDecision | undefined => {
  if (file === undefined) return undefined;
  const seen = new Set<string>();
  return (role, access, isAllowed) => {
    const { action, resource, context = {} } = access;
    const subject = [resource, ...Object.values(context)].join(' ').replaceAll(ids, '*');
    const kind = `${role} ${action} ${subject} ${isAllowed}`;
    if (seen.has(kind)) return;
    seen.add(kind);
    appendFileSync(file, `${JSON.stringify({ role, access, isAllowed })}\n`);
  };
};
