import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { openInBrowser } from './browser.ts';
import { CommandError } from './exit.ts';
import { program } from './program.ts';

/**
 * Gets a token from the page like `terraform login`: OAuth 2.0's authorization code with PKCE (RFC 6749 §4.1, RFC
 * 7636), at the addresses of service discovery.
 */

interface Login {
  client: string;
  authz: string;
  token: string;
  ports: [number, number];
}

/** The response's JSON object; an empty one if the response is not a JSON object. */
const objectIn = async (response: Response): Promise<Record<string, unknown>> => {
  const document: unknown = await response.json().catch(() => undefined);
  return typeof document === 'object' && document !== null ? (document as Record<string, unknown>) : {};
};

const discover = async (url: string): Promise<Login> => {
  const response = await fetch(`${url}/.well-known/terraform.json`);
  const services = response.ok ? await objectIn(response) : {};
  const login = services['login.v1'] as Login | undefined;
  if (login) return login;
  throw new CommandError(
    `${url} does not support browser login. Create a token on its web page and pipe it in: ${program} login --with-token`,
  );
};

const listen = (server: Server, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });

const listenOnAny = async (server: Server, [first, last]: [number, number]): Promise<number> => {
  for (let port = first; port <= last; port++) if (await listen(server, port)) return port;
  throw new CommandError(
    `Login needs a free port from ${first} to ${last}, and all are in use. Close a program that uses one.`,
  );
};

const patienceMs = 10 * 60_000;

/** The code in the page's redirect. */
const answered = (server: Server, state: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new CommandError('Login timed out after 10 minutes. Try again.')),
      patienceMs,
    );
    server.on('request', (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
      const code = searchParams.get('code');
      // Any local program can send a request here; only the page has the state.
      if (pathname !== '/login' || searchParams.get('state') !== state || !code) {
        response.writeHead(404).end('Unexpected login response.\n');
        return;
      }
      clearTimeout(timer);
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
      response.end('You are signed in. Close this tab and go back to the terminal.\n');
      resolve(code);
    });
  });

const secret = (): string => randomBytes(32).toString('base64url');

/** @param say prints instructions for the user @throws {CommandError} */
export const tokenFromBrowser = async (url: string, say: (text: string) => void): Promise<string> => {
  const login = await discover(url);
  const server = createServer();
  try {
    const redirect = `http://localhost:${await listenOnAny(server, login.ports)}/login`;
    const [verifier, state] = [secret(), secret()];
    const address = new URL(`${url}${login.authz}`);
    address.search = new URLSearchParams({
      client_id: login.client,
      response_type: 'code',
      redirect_uri: redirect,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state,
    }).toString();
    const code = answered(server, state);
    say(`Approve the login in your browser. If it does not open, go to:\n\n  ${address}\n`);
    openInBrowser(address.href);
    const grant = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: login.client,
      code: await code,
      code_verifier: verifier,
      redirect_uri: redirect,
    });
    const response = await fetch(`${url}${login.token}`, { method: 'POST', body: grant });
    const answer = await objectIn(response);
    if (typeof answer.access_token === 'string') return answer.access_token;
    throw new CommandError(`Login failed: ${answer.error_description ?? response.status}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
};
