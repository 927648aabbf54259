/**
 * Minimum retention of run and configuration content in days, independent of the settings (infra/settings/settings.ts):
 * a run can wait 60 days for its confirmation and then needs both. Pure.
 */
export const shortestRetentionDays = 90;
