import { join, resolve } from 'node:path';
import { hostSettings } from '#clients/cli/terraform-host.ts';
import type { Application } from '#infra/local/assembly/site.ts';
import type { FunctionSettings } from '#infra/local/aws/lambda/function-settings.ts';
import { writePrivately } from '#infra/local/aws/ssm/secrets.ts';
import { StartError } from '#infra/local/host/errors.ts';
import type { FaultRule } from '#infra/local/host/faults.ts';
import type { Local } from '#infra/local/host/folder.ts';
import type { Front } from '#infra/local/host/front.ts';
import { Host, type HostOptions } from '#infra/local/host/host.ts';
import { KeptStates } from '#infra/local/host/kept-states.ts';
import { machineCache } from '#infra/local/host/machine-cache.ts';

export interface StartOptions {
  /** Data folder; created if missing. */
  dataDir: string;
  /** 0 = any free port; undefined = the previous one, else 8080 and 8443. */
  port?: number;
  httpsPort?: number;
  /** Port of the environments' API; undefined = the previous one, else any free port. */
  environmentsPort?: number;
  /** The application to run; by default the synthesized one of this checkout. */
  application?: Promise<Application>;
  /** Receives a line before each slow step. */
  tell?: (text: string) => void;
  /** Settings of functions that differ from AWS. */
  functionSettings?: FunctionSettings;
  front?: Front;
  /** URL of the mail server; by default e-mails become files in the data folder. */
  smtp?: string;
  /** Initial fault rules. */
  faults?: FaultRule[];
  /** The time to which the data was restored: later runs end before anything else happens. UTC, ISO 8601. */
  recoverTo?: string;
}

export interface Platform {
  /** Content of `local.json`. */
  local: Local;
  host: Host;
  /** Settings for the terraform command line: the token for `httpsUrl`. */
  cliConfigFile: string;
  /** Milliseconds until requests are served. */
  readyMs: number;
  /** Milliseconds from the call to each step of the start, for profiling. */
  timeline: Record<string, number>;
  /** Ends everything, except runners if they are left; another start on the folder continues from there. */
  close(options?: { leaveRunners?: boolean }): Promise<void>;
}

const organization = 'local';
/** functions/resources/sign-in/oauth-token-routes.ts */
const oneTimeGrant = 'urn:stepform:one-time-secret';

/**
 * The whole application on this machine, for users (`npm start`), tests, demo and benchmark. Resolves when requests are
 * served and `local.json` is written.
 * @throws StartError for problems that a user can fix: ports in use, another platform on the folder, an invalid setting
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

/** The application of this checkout. */
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

/**
 * Creates the first organization and its owner's token; a new token if the last start ended before it was written to
 * disk.
 */
const bootstrap = async (host: Host): Promise<string> => {
  const payload = JSON.stringify({ organization, email: 'owner@localhost', rotate: true });
  const { failure, payload: answer } = await host.lambda.invoke('BootstrapFunction', payload);
  if (failure)
    throw new StartError(
      `the first organization could not be created in ${host.folder.path}: ${failure.errorType}: ${failure.errorMessage}. ` +
        `See its logs folder for details. If the disk is full, free some space, or set STEPFORM_DATA to a folder on another disk`,
    );
  const { secret } = JSON.parse(answer) as { secret: string };
  const body = new URLSearchParams({ grant_type: oneTimeGrant, secret });
  const exchanged = await fetch(`${host.local.url}/oauth/token`, { method: 'POST', body });
  if (!exchanged.ok) throw new StartError(`the owner's sign-in failed: ${await exchanged.text()}`);
  return ((await exchanged.json()) as { access_token: string }).access_token;
};

const writeCliConfig = (host: Host, { url, httpsUrl, token }: Local): string => {
  const file = host.folder.at('terraform.rc');
  const { host: name } = new URL(httpsUrl);
  const credentials = `credentials "${name}" {\n  token = "${token}"\n}\n`;
  writePrivately(file, credentials + hostSettings(url, token));
  return file;
};

/** Where runners store states that they cannot upload: in the data folder, so that backups include them. */
const unsavedStates = (dataDir: string): string => resolve(dataDir, 'unsaved-states');

/**
 * A container has its own environment; from this machine it gets only the variables that programs need to find files
 * and networks.
 */
const allowed =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|XDG_CACHE_HOME|SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS|(https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY|TF_PLUGIN_CACHE_DIR|TF_CLI_CONFIG_FILE|GOGC|GOMEMLIMIT|STEPFORM_(CACHE|TERRAFORM_USERS|ROOMS|ROOM_FOLDERS|TERRAFORM_RELEASES|TOFU_RELEASES|TOFU_INDEX))$/;

const runnerEnvironment = (dataDir: string, sharedProviderHosts = ''): HostOptions['runnerEnvironment'] => {
  const folder = resolve(dataDir);
  // If the user has pasted the export lines of `npm start`, these variables point to files in the folder, among them the
  // owner's token.
  const passes = ([name, value = '']: [string, string | undefined]) => allowed.test(name) && !value.startsWith(folder);
  return {
    ...(Object.fromEntries(Object.entries(process.env).filter(passes)) as Record<string, string>),
    STEPFORM_UNSAVED_STATES: unsavedStates(folder),
    STEPFORM_PROVIDER_CACHE: sharedProviderHosts ? '' : join(process.env.STEPFORM_CACHE || machineCache, 'providers'),
  };
};
