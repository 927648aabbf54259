/** Attributes of a workspace that need not be stored with their default value. */
interface Omissible {
  engine?: unknown;
  agentPoolId?: string | null;
  sourceName?: string | null;
  sourceUrl?: string | null;
  applyBeforeMergeEnabled?: boolean;
  globalRemoteState?: boolean;
  projectRemoteState?: boolean;
  applyBeforeMergeRequirements?: unknown[];
}

const leftOut = (settings: Omissible): (keyof Omissible)[] => [
  ...(['engine', 'agentPoolId', 'sourceName', 'sourceUrl'] as const).filter((name) => settings[name] === null),
  ...(['applyBeforeMergeEnabled', 'globalRemoteState', 'projectRemoteState'] as const).filter(
    (name) => !settings[name],
  ),
  ...(settings.applyBeforeMergeRequirements?.length ? [] : (['applyBeforeMergeRequirements'] as const)),
];

/**
 * Settings without attributes that have their default value. DynamoDB bills a write by the item's size, and each run
 * writes its workspace four times: a small workspace stays below 1 KB.
 */
export const withoutDefaults = <T extends Omissible>(settings: T): T => {
  const stored = { ...settings };
  for (const name of leftOut(settings)) delete stored[name];
  return stored;
};
