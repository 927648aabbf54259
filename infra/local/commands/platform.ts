import { join, resolve } from 'node:path';
import type { FunctionSettings } from '#infra/local/aws/lambda/function-settings.ts';
import { writePrivately } from '#infra/local/aws/ssm/secrets.ts';
import { StartError } from '#infra/local/host/errors.ts';
import type { FaultRule } from '#infra/local/host/faults.ts';
import type { Local } from '#infra/local/host/folder.ts';
import type { Front } from '#infra/local/host/front.ts';
import { Host, type HostOptions } from '#infra/local/host/host.ts';
import { KeptStates } from '#infra/local/host/kept-states.ts';
import { machineCache } from '#infra/local/host/machine-cache.ts';
import type { Application } from './assemble.ts';

export interface StartOptions {
  /** Data folder; made when it is not there. */
  dataDir: string;
  /** 0 = any free port; undefined = as before, else 8080 and 8443. */
  port?: number;
  httpsPort?: number;
  /** Of the environments' API; undefined = as before, else any free one. */
  environmentsPort?: number;
  /** What to run; the synthesized application of this checkout unless given. */
  application?: Promise<Application>;
  /** Hears what takes long, while it is done. */
  tell?: (text: string) => void;
  /** What functions are told otherwise than on AWS. */
  functionSettings?: FunctionSettings;
  front?: Front;
  /** URL of the mail server; e-mails become files of the data folder unless given. */
  smtp?: string;
  /** What is to go wrong from the start. */
  faults?: FaultRule[];
  /** Data was restored to that time: runs of the time between end before anything else happens. UTC, ISO 8601. */
  recoverTo?: string;
}

export interface Platform {
  /** What `local.json` says. */
  local: Local;
  host: Host;
  /** Settings for the terraform command line: the token for `httpsUrl`. */
  cliConfigFile: string;
  /** From the call to the moment requests are answered. */
  readyMs: number;
  /** What went on, in milliseconds from the call, for whoever wants it faster. */
  timeline: Record<string, number>;
  /** Nothing of it runs any more, unless its runners are left; another start on the folder goes on from there. */
  close(options?: { leaveRunners?: boolean }): Promise<void>;
}

const organization = 'local';
/** functions/resources/sign-in/oauth-token-routes.ts */
const oneTimeGrant = 'urn:stepform:one-time-secret';

/**
 * The whole application on this machine, for people (`npm start`), tests, demo and benchmark. Resolves when requests
 * are answered and `local.json` is written.
 * @throws StartError for what a person must mend: ports in use, another platform on the folder, a setting
 */
export const startPlatform = async ({
  dataDir,
  port,
  httpsPort,
  environmentsPort,
  application,
  tell,
  functionSettings,
  front,
  smtp,
  faults,
  recoverTo,
}: StartOptions): Promise<Platform> => {
  const begun = performance.now();
  const timeline: Record<string, number> = {};
  const mark = (what: string) => {
    timeline[what] = Math.round(performance.now() - begun);
  };
  const synthesized = application ?? synthesizedApplication(tell);
  synthesized.then(
    () => mark('synthesized'),
    () => {},
  );
  const host = new Host({
    dataDir,
    application: synthesized,
    port,
    httpsPort,
    environmentsPort,
    runnerEnvironment: runnerEnvironment(dataDir, functionSettings?.SHARED_PROVIDER_HOSTS),
    functionSettings,
    front,
    smtp,
    faults,
    recoverTo,
  });
  try {
    await host.start();
    mark('assembled');
    const token = host.previous?.token ?? (await bootstrap(host));
    mark('bootstrapped');
    const local: Local = { ...host.local, organization, token };
    const cliConfigFile = writeCliConfig(host, local);
    host.folder.publish(local);
    const keptStates = new KeptStates(local.url, unsavedStates(dataDir), console.error);
    keptStates.start();
    const close: Platform['close'] = async (options) => {
      await keptStates.close();
      await host.close(options);
    };
    const readyMs = Math.round(performance.now() - begun);
    return { local, host, cliConfigFile, readyMs, timeline, close };
  } catch (error) {
    await host.close();
    throw error;
  }
};

/** The one of this checkout. */
export const synthesizedApplication = async (tell?: (text: string) => void): Promise<Application> => {
  const { synthesize } = await import('#infra/build/synth.ts');
  const { bundles, template } = await synthesize({ tell });
  return {
    template,
    runner: bundles.runnerProgram,
    compiled: resolve(import.meta.dirname, '../../../.build/compiled'),
    bundleOf: (logicalId) =>
      bundles.functions[logicalId.replace(/Function$/, '') as keyof typeof bundles.functions]?.file,
  };
};

/** The first organization and its owner's token; another token when the last start ended before it was written down. */
const bootstrap = async (host: Host): Promise<string> => {
  const payload = JSON.stringify({ organization, email: 'owner@localhost', rotate: true });
  const { failure, payload: answer } = await host.lambda.invoke('BootstrapFunction', payload);
  if (failure)
    throw new StartError(
      `the first organization could not be made in ${host.folder.path}: ${failure.errorType}: ${failure.errorMessage}. ` +
        `Its logs folder may tell more. If the disk is full, free some space, or set STEPFORM_DATA to a folder on another disk`,
    );
  const { secret } = JSON.parse(answer) as { secret: string };
  const body = new URLSearchParams({ grant_type: oneTimeGrant, secret });
  const exchanged = await fetch(`${host.local.url}/oauth/token`, { method: 'POST', body });
  if (!exchanged.ok) throw new StartError(`the owner was not let in: ${await exchanged.text()}`);
  return ((await exchanged.json()) as { access_token: string }).access_token;
};

const writeCliConfig = (host: Host, { httpsUrl, token }: Local): string => {
  const file = host.folder.at('terraform.rc');
  const { host: name } = new URL(httpsUrl);
  const credentials = (of: string) => `credentials "${of}" {\n  token = "${token}"\n}\n`;
  // Terraform takes no module from a host without a dot, as localhost is.
  const services = [
    ...['modules', 'providers'].map((kind) => `    "${kind}.v1" = "${httpsUrl}/api/registry/v1/${kind}/"\n`),
    // A module's tests are run where it is published.
    `    "tfe.v2" = "${httpsUrl}/api/v2/"\n`,
  ];
  const registry = `host "localterraform.com" {\n  services = {\n${services.join('')}  }\n}\n`;
  writePrivately(file, [credentials(name), credentials('localterraform.com'), registry].join(''));
  return file;
};

/** Where runners keep states that they cannot upload: with the rest of the data, so that a backup has them. */
const unsavedStates = (dataDir: string): string => resolve(dataDir, 'unsaved-states');

/** A container has an environment of its own; of this machine's it gets what programs need to find their way. */
const allowed =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|XDG_CACHE_HOME|SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS|(https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY|TF_PLUGIN_CACHE_DIR|TF_CLI_CONFIG_FILE|GOGC|GOMEMLIMIT|STEPFORM_(CACHE|TERRAFORM_USERS|ROOMS|ROOM_FOLDERS|TERRAFORM_RELEASES|TOFU_RELEASES|TOFU_INDEX))$/;

const runnerEnvironment = (dataDir: string, sharedProviderHosts = ''): HostOptions['runnerEnvironment'] => {
  const folder = resolve(dataDir);
  // Whoever pasted the lines that `npm start` prints has this folder's own files there, the owner's token among them.
  const passes = ([name, value = '']: [string, string | undefined]) => allowed.test(name) && !value.startsWith(folder);
  return {
    ...(Object.fromEntries(Object.entries(process.env).filter(passes)) as Record<string, string>),
    STEPFORM_UNSAVED_STATES: unsavedStates(folder),
    STEPFORM_PROVIDER_CACHE: sharedProviderHosts ? '' : join(process.env.STEPFORM_CACHE || machineCache, 'providers'),
  };
};
