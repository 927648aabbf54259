import { appendFileSync } from 'node:fs';

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
