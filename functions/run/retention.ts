/**
 * Minimum days that content of runs and configurations is kept, whatever the settings (infra/settings/settings.ts): a run may
 * wait 60 days for its confirmation and needs both then. Pure.
 */
export const shortestRetentionDays = 90;
