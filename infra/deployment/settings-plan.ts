import { wrongUsage } from '#clients/cli/exit.ts';
import { isSetting, readSettings, type SettingName, settingsOf } from '#infra/settings/settings.ts';
import type { Deployed } from './deployed-settings.ts';

/** The settings of a deployment: those of the deployed platform, then cdk.json, then the command line. */

export interface SettingSources {
  /** Undefined for a first deployment. */
  deployed?: Deployed;
  /** `context` of cdk.json, with the CDK's own keys. */
  file: Record<string, unknown>;
  /** `-c name=value`. */
  given: Record<string, unknown>;
  /** Settings that return to their default. */
  reset: string[];
}

/** Values as JSON; undefined for the default. */
export interface SettingChange {
  name: string;
  from: string | undefined;
  to: string | undefined;
  /** It may affect security, existing data, or the names that others know, and needs a confirmation. */
  sensitive: boolean;
}

export interface SettingsPlan {
  /** CDK context for the deployment. */
  context: Record<string, unknown>;
  /** The operator's settings. */
  chosen: Record<string, unknown>;
  kept: string[];
  changed: SettingChange[];
  warnings: string[];
}

/** Settings that change without a question: sizes, speed and costs. */
const harmless: ReadonlySet<SettingName> = new Set<SettingName>([
  'terraformVersion',
  'readySeconds',
  'warmRunners',
  'maxRunners',
  'organizationMaxRunners',
  'warmRunnerHours',
  'heartbeatSeconds',
  'runnerCpu',
  'runnerMemoryMiB',
  'runnerDiskGiB',
  'keyRotationDays',
  'requestsPerSecond',
  'signInName',
  'apiIpRanges',
  'outgoingIpRanges',
  'emailSender',
]);

const json = (value: unknown): string | undefined => (value === undefined ? undefined : JSON.stringify(value));

const checkReset = ({ deployed, file, given, reset }: SettingSources): void => {
  for (const name of reset) {
    if (name in given) throw wrongUsage(`${name} is in both -c and --reset.`);
    if (name in file) throw wrongUsage(`${name} is set in cdk.json: remove it there, then --reset ${name}.`);
    if (!(name in (deployed?.settings ?? {})))
      throw wrongUsage(`--reset ${name}: the deployed platform does not set it.`);
  }
};

const without = (settings: Record<string, unknown>, drop: (name: string) => boolean): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !drop(name)));

/**
 * @throws {SettingsError} for a wrong setting
 * @throws {CommandError} for a reset without effect, or a change that would make tokens of runs invalid
 */
export const planSettings = (sources: SettingSources, now = Date.now()): SettingsPlan => {
  checkReset(sources);
  const { deployed, file, given, reset } = sources;
  const before = without(deployed?.settings ?? {}, (name) => reset.includes(name));
  const unknown = Object.keys(before).filter((name) => !isSetting(name));
  if (unknown.length)
    throw wrongUsage(
      `The deployed platform has settings that this version does not know: ${unknown.join(', ')}. Drop each with --reset.`,
    );
  const context = { ...before, ...file, ...given };
  const next = readSettings(context);
  const { chosen } = next;
  const kept = Object.keys(chosen).filter((name) => json(chosen[name]) === json(deployed?.settings[name]));
  if (!deployed) return { context, chosen, kept, changed: [], warnings: warningsOf(sources, chosen) };

  // Settings that this version does not know have no effect any more.
  const former = readSettings(without(deployed.settings, (name) => !isSetting(name)));
  checkIdentityKeys(former.identityKeys, next.identityKeys, deployed.updatedAt, now);
  const names = new Set([...Object.keys(deployed.settings), ...Object.keys(chosen)]);
  const changed = [...names]
    .filter((name) => !kept.includes(name))
    .sort()
    .map((name) => {
      const hasEffect = isSetting(name) && json(former[name]) !== json(next[name]);
      return {
        name,
        from: json(deployed.settings[name]),
        to: json(chosen[name]),
        sensitive: hasEffect && !harmless.has(name),
      };
    });
  return { context, chosen, kept, changed, warnings: warningsOf(sources, chosen) };
};

/** Functions outside a network reach no private address. */
const withoutNetwork = (chosen: Record<string, unknown>): string[] =>
  'outboundAllowedCidrs' in chosen && !('functionSubnetIds' in chosen)
    ? ['outboundAllowedCidrs has no effect without functionSubnetIds and functionSecurityGroupIds.']
    : [];

/** A value in cdk.json returns with the next deployment. */
const warningsOf = ({ file, given }: SettingSources, chosen: Record<string, unknown>): string[] =>
  Object.keys(settingsOf(file))
    .filter((name) => name in given && String(given[name]) !== String(file[name]))
    .map(
      (name) =>
        `cdk.json sets ${name} to ${json(file[name])}, which returns with the next deployment: change it there.`,
    )
    .concat(withoutNetwork(chosen));

const minuteMs = 60_000;
/** Workload identity tokens are valid for up to a day, and verifiers keep the published keys for 15 minutes. */
const dayMs = 24 * 60 * minuteMs;
const publishedMs = 15 * minuteMs;

/**
 * Every change of the keys updates the stack. So the first key has signed since its last update, and the others may have
 * signed until then.
 * @throws {CommandError}
 */
const checkIdentityKeys = (former: string[], next: string[], updatedAt: string, now: number): void => {
  const [signing = ''] = former;
  const [signer = ''] = next;
  const unchangedMs = now - Date.parse(updatedAt);
  const removed = former.filter((name) => !next.includes(name));
  const bypass = 'If a key is compromised, deploy with npx cdk deploy --all --no-previous-parameters and all settings.';
  if (removed.includes(signing))
    throw wrongUsage(
      `identityKeys: ${signing} signs tokens now. Put another key first, and remove ${signing} after a day. ${bypass}`,
    );
  if (removed.length && unchangedMs < dayMs)
    throw wrongUsage(
      `identityKeys: ${removed.join(', ')} may have signed tokens until ${updatedAt}. Remove after ${new Date(Date.parse(updatedAt) + dayMs).toISOString()}. ${bypass}`,
    );
  if (signer === signing) return;
  if (!former.includes(signer))
    throw wrongUsage(
      `identityKeys: ${signer} is not published yet. Deploy it at the end of the list, and put it first after 15 minutes.`,
    );
  if (unchangedMs < publishedMs)
    throw wrongUsage(
      `identityKeys: ${signer} may have been published at ${updatedAt}. Put it first 15 minutes after that.`,
    );
};
