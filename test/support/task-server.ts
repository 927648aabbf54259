import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TaskStage } from '#run/check-record.ts';
import type { TaskPayload } from '#run/task-payload.ts';
import { serve } from './serve.ts';

/** A run task for tests: records requests, and responds as the test requires. */

export interface TaskRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  /** The bytes as received. */
  bytes: Buffer;
  payload: TaskPayload;
}

type Answerer = (request: TaskRequest, response: ServerResponse) => unknown;

export interface TaskServer {
  url: string;
  requests: TaskRequest[];
  /** The response from now on; initially 200. */
  answer: Answerer;
  /** Resolves with the n-th request (from 1) as soon as it arrives. */
  request(n: number): Promise<TaskRequest>;
  close(): Promise<void>;
}

export const status =
  (code: number, headers: Record<string, string> = {}): Answerer =>
  (_, response) =>
    response.writeHead(code, headers).end();

/** Accepts the request and never responds. */
export const hang: Answerer = () => {};

export const signatureOf = (bytes: Buffer, key: string): string =>
  createHmac('sha512', key).update(bytes).digest('hex');

export const startTaskServer = async (): Promise<TaskServer> => {
  const waiting = new Map<number, (request: TaskRequest) => void>();
  const server = await serve(async (incoming, response) => {
    const parts: Buffer[] = [];
    for await (const part of incoming as AsyncIterable<Buffer>) parts.push(part);
    const bytes = Buffer.concat(parts);
    const request: TaskRequest = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      bytes,
      payload: bytes.length ? JSON.parse(bytes.toString()) : {},
    };
    task.requests.push(request);
    waiting.get(task.requests.length)?.(request);
    await task.answer(request, response);
  });
  const task: TaskServer = {
    url: `${server.url}/`,
    requests: [],
    answer: status(200),
    request: async (n) => {
      const there = task.requests[n - 1];
      if (there) return there;
      return new Promise((resolve) => {
        waiting.set(n, resolve);
      });
    },
    close: server.close,
  };
  return task;
};

/** Every property of the vendor's two tables, by stage, in alphabetical order. */
export const payloadKeys = (stage: TaskStage): string[] =>
  [
    'access_token',
    'capabilities',
    'capabilitites',
    'configuration_version_download_url',
    'configuration_version_id',
    'is_speculative',
    'organization_name',
    'payload_version',
    ...(stage === 'pre_plan' ? [] : ['plan_json_api_url']),
    'run_app_url',
    'run_created_at',
    'run_created_by',
    'run_id',
    'run_message',
    'stage',
    'task_result_callback_url',
    'task_result_enforcement_level',
    'task_result_id',
    'vcs_branch',
    'vcs_commit_url',
    'vcs_pull_request_url',
    'vcs_repo_url',
    'workspace_app_url',
    'workspace_id',
    'workspace_name',
    'workspace_working_directory',
  ].sort();
