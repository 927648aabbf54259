import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { until } from '#clients/client/client.ts';
import { providePython } from '#infra/build/python.ts';
import { keepTls, type Tls } from '#infra/local/host/tls.ts';
import { freePort } from '#test/support/free-port.ts';

/** MiniStack, an emulator of AWS that shares no code with the local platform. */

const packages: [string, ...string[]] = [
  'ministack==1.5.33',
  'botocore==1.43.106',
  'cffi==2.1.1',
  'cryptography==50.0.2',
  'defusedxml==0.7.1',
  'graphql-core==3.2.12',
  'h11==0.16.0',
  'h2==4.4.1',
  'hpack==4.2.0',
  'hypercorn==0.18.0',
  'hyperframe==6.1.0',
  'jmespath==1.1.0',
  'jsonata-python==0.7.1',
  'priority==2.0.0',
  'pycparser==3.12',
  'python-dateutil==2.9.0.post0',
  'pyyaml==6.0.4',
  'six==1.17.0',
  'urllib3==2.8.0',
  'wsproto==1.3.2',
];

const program = fileURLToPath(new URL('emulator.py', import.meta.url));

/** One JSON line per call that IAM evaluated (emulator.py). */
export const judgedFile = 'judged.jsonl';

export interface Emulator {
  url: string;
  /** For the AWS SDKs and the CDK command line. */
  environment: Record<string, string>;
  stop(): Promise<void>;
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => (child.exitCode === null ? child.once('exit', () => resolve()) : resolve()));

/** A certificate for the emulator and its APIs, which this process trusts from now on. */
const trusted = async (folder: string): Promise<Tls> => {
  const tls = await keepTls(folder, ['*.execute-api.localhost']);
  setDefaultCACertificates([...getCACertificates(), readFileSync(tls.caFile, 'utf8')]);
  return tls;
};

/** Starts it empty; returns a text with the reason if it is not available. @param opa path of the binary */
export const startEmulator = async (folder: string, opa: string): Promise<Emulator | string> => {
  const provided = await providePython('python', packages);
  if ('missing' in provided) return provided.missing;
  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
  const { caFile } = await trusted(folder);
  const output = openSync(join(folder, 'emulator.log'), 'a');
  const child = spawn(provided.program, [program], {
    // Functions run with the Node of this process, and find OPA.
    env: {
      PATH: `${join(process.execPath, '..')}:${dirname(opa)}:${process.env.PATH}`,
      HOME: folder,
      TMPDIR: folder,
      GATEWAY_PORT: String(port),
      BIND_HOST: '127.0.0.1',
      STATE_DIR: join(folder, 'state'),
      S3_DATA_DIR: join(folder, 's3'),
      USE_SSL: '1',
      MINISTACK_SSL_CERT: join(folder, 'server.pem'),
      MINISTACK_SSL_KEY: join(folder, 'server-key.pem'),
      NODE_EXTRA_CA_CERTS: caFile,
      // This listener only.
      IOT_MTLS_ENABLED: '0',
      SFTP_ENABLED: '0',
      DOCKER_HOST: 'unix:///nonexistent',
      LAMBDA_EXECUTOR: 'local',
      // Its IAM evaluates every call of functions.
      AUTH: 'true',
      JUDGED: join(folder, judgedFile),
    },
    stdio: ['ignore', output, output],
    detached: true,
  });
  const stop = async () => {
    // Including the processes of its functions.
    if (child.exitCode === null && child.pid) process.kill(-child.pid, 'SIGKILL');
    await ended(child);
  };
  await until(
    async () => {
      if (child.exitCode !== null) throw new Error(`MiniStack ended with ${child.exitCode}; see emulator.log`);
      return fetch(`${url}/_ministack/health`).then(
        ({ ok }) => ok,
        () => false,
      );
    },
    (ok) => ok,
    60_000,
  );
  return {
    url,
    environment: {
      AWS_ENDPOINT_URL: url,
      AWS_REGION: 'us-east-1',
      AWS_DEFAULT_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_EC2_METADATA_DISABLED: 'true',
      NODE_EXTRA_CA_CERTS: caFile,
    },
    stop,
  };
};
