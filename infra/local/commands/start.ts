import { resolve } from 'node:path';
import { readFunctionSettings } from '#infra/local/aws/lambda/function-settings.ts';
import { reasonOf, StartError } from '#infra/local/host/errors.ts';
import { type FaultRule, readFaults } from '#infra/local/host/faults.ts';
import { readFront } from '#infra/local/host/front.ts';
import { SettingsError } from '#infra/settings/settings.ts';
import { genericHost } from '#platform/net/generic-host.ts';
import { separationIn } from '#runner/program/settings.ts';
import { notKeptApart } from '#runner/program/terraform/separation.ts';
import { misspelledVariables } from './misspelled-variables.ts';
import type { Platform } from './platform.ts';
import { programName } from './program-name.ts';

/**
 * `npm start`: the platform in the foreground. Environment: STEPFORM_DATA, PORT, HTTPS_PORT, ENVIRONMENTS_PORT, STEPFORM_SIGN_IN_…,
 * STEPFORM_ORGANIZATION_CREATORS, STEPFORM_RUNS_OF, STEPFORM_RUN_TASK_SECONDS, STEPFORM_COMMIT_ARCHIVE_SECONDS, STEPFORM_FAULTS, STEPFORM_REQUESTS_PER_SECOND, STEPFORM_WARM_RUNNERS, STEPFORM_WARM_RUNNER_HOURS,
 * STEPFORM_SHARED_PROVIDER_HOSTS, STEPFORM_ENVIRONMENT_DEBUG, STEPFORM_EMAIL_SENDER, STEPFORM_SMTP,
 * STEPFORM_PUBLIC_URL, STEPFORM_STORAGE_URL, STEPFORM_TRUSTED_PROXIES, STEPFORM_API_IP_RANGES, STEPFORM_OUTGOING_IP_RANGES, STEPFORM_OTLP_ENDPOINT, STEPFORM_OTLP_HEADERS.
 */

const port = (name: string): number | undefined => {
  const text = process.env[name];
  if (text === undefined || text === '') return undefined;
  if (!/^\d+$/.test(text) || Number(text) > 65_535)
    throw new StartError(`${name} must be a port number, or 0 for any free one; it is ${text}`);
  return Number(text);
};

const faults = (): FaultRule[] => {
  const text = process.env.STEPFORM_FAULTS;
  if (!text) return [];
  try {
    return readFaults(text);
  } catch (error) {
    throw new StartError(`STEPFORM_FAULTS: ${(error as Error).message}`);
  }
};

const smtp = (): string | undefined => {
  const text = process.env.STEPFORM_SMTP;
  if (!text) return undefined;
  if (!/^smtps?:\/\/[^\s/]+$/.test(text))
    throw new StartError(
      'STEPFORM_SMTP must be the URL of a mail server, such as smtp://user:password@mail.example.com:587',
    );
  return text;
};

/** @param read parses a setting from the environment of `npm start`; throws an error that names the invalid variable */
const settingsBy = <T>(read: (environment: NodeJS.ProcessEnv) => T): T => {
  try {
    return read(process.env);
  } catch (error) {
    throw new StartError((error as Error).message);
  }
};

const introduce = ({ cliConfigFile, host, local, readyMs }: Platform, otlpEndpoint: string | undefined): string => {
  const { caFile, environmentsUrl, httpsUrl, organization, token, url } = local;
  return `\
stepform is ready after ${(readyMs / 1000).toFixed(1)} s

  API    ${url}/api/v2  (also ${httpsUrl}/api/v2)${host.servesPage ? `\n  page   ${url}/` : ''}
  coder  ${environmentsUrl}  (environments: coder login ${environmentsUrl} --token …)
  token  ${token}
  data   ${host.folder.path}  (local.json in it has all of this; logs has the logs of functions and runners)${
    otlpEndpoint ? `\n  traces ${otlpEndpoint}/v1/traces  (receives a trace of each run when it ends)` : ''
  }

To use it from Terraform, paste into a configuration

  terraform {
    cloud {
      hostname     = "${genericHost}"
      organization = "${organization}"
      workspaces {
        name = "example"
      }
    }
  }

and let Terraform find this platform, once for all shells or in this one only:

  ${programName} login --terraform
  export TF_CLI_CONFIG_FILE=${cliConfigFile}

With its host name ${new URL(httpsUrl).host} Terraform also needs the certificate: export SSL_CERT_FILE=${caFile}

Run tasks may be on this machine too: URLs to loopback are called here, and refused on AWS.
Ctrl-C stops it; unfinished runs continue at the next start.`;
};

/** On Lambda an unhandled rejection ends one instance; here it must not end the platform. */
const survive = ({ host }: Platform): void => {
  const tell = (error: unknown) => {
    host.log(`unhandled error: ${error instanceof Error ? error.stack : String(error)}`);
    console.error(`Unhandled error (see ${host.folder.at('logs', 'platform.log')}): ${String(error)}`);
  };
  process.on('unhandledRejection', tell);
  process.on('uncaughtException', tell);
};

const stopOnSignal = (platform: Platform): void => {
  let stopping = false;
  const stop = async () => {
    // A second Ctrl-C ends the process at once: the data on disk is always enough to continue.
    if (stopping) process.exit(1);
    stopping = true;
    const { runners } = platform.host;
    if (runners)
      console.log(
        `${runners === 1 ? 'A runner is' : `${runners} runners are`} still running and will report to the next start.`,
      );
    try {
      await platform.close({ leaveRunners: true });
      process.exit(0);
    } catch (error) {
      console.error(error);
      process.exit(1);
    }
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  // Otherwise any process of the same user, including Terraform's, could open Node's inspector with it and read every
  // token.
  process.on('SIGUSR1', () => {});
};

const usage = '--recovered-to <time>, e.g. --recovered-to 2026-01-31T08:00:00Z';

/**
 * Parses the arguments.
 * @returns the time to which the data was restored, in UTC
 */
const recoverTo = (): string | undefined => {
  const [name, time, ...rest] = process.argv.slice(2);
  if (name === undefined) return undefined;
  if (name !== '--recovered-to' || rest.length > 0)
    throw new StartError(
      `unsupported arguments: ${process.argv.slice(2).join(' ')}. The only option is ${usage}. Other settings are environment variables: STEPFORM_DATA, PORT, HTTPS_PORT, ENVIRONMENTS_PORT and those in infra/docs/local.md`,
    );
  if (!time || Number.isNaN(Date.parse(time)))
    throw new StartError(`--recovered-to takes the time of the backup: ${usage}`);
  return new Date(time).toISOString();
};

const separationProblems = async (runsOf: string | undefined): Promise<string[]> => {
  const offer = runsOf
    ? `Only runs of organization ${runsOf} start here.`
    : 'STEPFORM_RUNS_OF=<organization> lets only runs of that organization start here.';
  try {
    return await notKeptApart(separationIn(), offer);
  } catch (error) {
    throw new StartError((error as Error).message);
  }
};

const dataDir = resolve(process.env.STEPFORM_DATA || '.stepform');

try {
  const options = {
    recoverTo: recoverTo(),
    dataDir,
    port: port('PORT'),
    httpsPort: port('HTTPS_PORT'),
    environmentsPort: port('ENVIRONMENTS_PORT'),
    functionSettings: settingsBy(readFunctionSettings),
    front: settingsBy(readFront),
    smtp: smtp(),
    faults: faults(),
    tell: console.log,
  };
  for (const line of misspelledVariables(process.env)) console.error(line);
  for (const line of await separationProblems(options.functionSettings.RUNS_OF)) console.error(line);
  console.log('Starting stepform …');
  // Loading the platform takes seconds on a slow machine, too.
  const [{ startPlatform }, { missingTools }] = await Promise.all([import('./platform.ts'), import('./tools.ts')]);
  const platform = await startPlatform(options);
  stopOnSignal(platform);
  survive(platform);
  console.log(introduce(platform, options.functionSettings.OTLP_ENDPOINT));
  for (const line of await missingTools()) console.error(`\n${line}`);
} catch (error) {
  const reason = error instanceof SettingsError ? error.message : reasonOf(error, dataDir);
  console.error(reason ? `stepform cannot start: ${reason}` : error);
  process.exit(1);
}
