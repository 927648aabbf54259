import http from 'node:http';
import https from 'node:https';
import { type Check, differs, expect, ok } from '../check.ts';

interface Answered {
  status: number;
  location?: string;
  text: string;
}

/** A request as coder's command line opens a log: RFC 6455's headers, to the HTTP API. */
export const upgradeRequest = (url: string, token?: string): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'c3RlcGZvcm0gdmVyaWZ5IQ==',
      ...(token ? { 'coder-session-token': token } : {}),
    };
    const { request } = url.startsWith('https:') ? https : http;
    const sent = request(url, { headers, timeout: 20_000 }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, location: response.headers.location, text }),
      );
      response.on('error', reject);
    });
    sent.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 101, text: '' });
    });
    sent.on('timeout', () => sent.destroy(new Error('no response within 20 s')));
    sent.on('error', reject);
    sent.end();
  });

export const socketUpgrade: Check = {
  name: 'socket upgrade',
  proves: 'The HTTP API of environments passes a request with `Connection: Upgrade` on to its function',
  documented: "the function's own response, 401 without a token",
  part: 'canary',
  async perform({ target }) {
    const job = '/api/v2/workspacebuilds/00000000-0000-4000-8000-000000000000/logs?follow=true';
    const { status, text } = await upgradeRequest(`${target.environmentsUrl}${job}`);
    expect(/"message"/.test(text) && status < 500, `the gateway answered itself: ${status} ${text.slice(0, 120)}`);
    return status === 401 ? ok('reaches the function') : differs(`the function answered ${status}, not 401`);
  },
};
