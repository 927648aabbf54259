import { gunzipSync } from 'node:zlib';
import { packFiles } from '#clients/cli/archive.ts';
import { type Check, expect, ok } from '../check.ts';
import type { Platform } from '../platform.ts';
import { upgradeRequest } from './socket-upgrade.ts';

/** A call of the environments' API with JSON or an archive. @throws {Error} for an error response */
const call = async <T>(
  { target, token }: Platform,
  path: string,
  body: object | Uint8Array,
  method = 'POST',
): Promise<T> => {
  const isArchive = body instanceof Uint8Array;
  const response = await fetch(`${target.environmentsUrl}/api/v2${path}`, {
    method,
    headers: {
      'coder-session-token': token,
      'content-type': isArchive ? 'application/x-tar' : 'application/json',
    },
    body: (isArchive ? body : JSON.stringify(body)) as RequestInit['body'],
  });
  const text = await response.text();
  expect(response.ok, `${path}: ${response.status} ${text.slice(0, 200)}`);
  return JSON.parse(text) as T;
};

/** Number of messages until the platform closes the connection. @throws {Error} */
const follow = (url: string, limitMs = 300_000): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'));
    let messages = 0;
    const late = setTimeout(() => {
      reject(new Error(`the log did not end within ${limitMs / 1000} s`));
      socket.close();
    }, limitMs);
    socket.addEventListener('message', () => {
      messages += 1;
    });
    socket.addEventListener('error', () => reject(new Error(`no WebSocket connection to ${new URL(url).host}`)));
    socket.addEventListener('close', () => {
      clearTimeout(late);
      resolve(messages);
    });
  });

export const environmentLog: Check = {
  name: 'environment log',
  proves:
    "A template's import is followed as coder's command line does: upgrade request, redirect, WebSocket until its end",
  documented: '307 to the WebSocket API, every line of the log, then the connection is closed',
  async perform(platform) {
    const archive = gunzipSync(await packFiles({ 'main.tf': 'resource "terraform_data" "a" {}\n' }));
    const { hash } = await call<{ hash: string }>(platform, '/files', archive);
    const path = `/organizations/${platform.organization}/templateversions`;
    const { id } = await call<{ id: string }>(platform, path, {
      name: 'verify',
      storage_method: 'file',
      file_id: hash,
      provisioner: 'terraform',
    });
    const log = `${platform.target.environmentsUrl}/api/v2/templateversions/${id}/logs?follow=true`;
    const { status, location, text } = await upgradeRequest(log, platform.token);
    expect(status === 307 && location, `the upgrade request was answered with ${status} ${text.slice(0, 120)}`);
    const messages = await follow(location);
    expect(messages > 0, 'the connection was closed without a line');
    // A deleted template takes the workspace of its import with it.
    const template = await call<{ id: string }>(platform, `/organizations/${platform.organization}/templates`, {
      name: 'verify',
      template_version_id: id,
    });
    await call(platform, `/templates/${template.id}`, {}, 'DELETE');
    return ok(`${messages} lines until its end`, { messages });
  },
};
