import { type AutoDestroyEvent, autoDestroyTriggers } from './auto-destroy.ts';
import { type ChangeRequestEvent, changeRequestTriggers } from './change-request.ts';
import { type HealthEvent, healthTriggers } from './health.ts';
import type { TriggerWords } from './message.ts';
import { type RunEvent, runTriggers } from './run.ts';

/**
 * Kinds of notifications. A new kind needs a file beside this one, a file in `notifications/kinds/`, and a line in each
 * of the lists below, which the compiler requires.
 */

/** Input of the function Notify. Each `id` stays the same when an event is delivered again. */
export type NotificationEvent = RunEvent | AutoDestroyEvent | HealthEvent | ChangeRequestEvent;
export type NotificationKind = NotificationEvent['kind'];

const workspaceWords = { ...runTriggers, ...autoDestroyTriggers, ...healthTriggers };
const teamWords = changeRequestTriggers;

export type Trigger = keyof typeof workspaceWords | keyof typeof teamWords;

export const triggerWords: Readonly<Record<Trigger, TriggerWords>> = { ...workspaceWords, ...teamWords };

/** Triggers for workspaces and projects. */
export const triggers = Object.keys(workspaceWords) as (keyof typeof workspaceWords)[];
export const teamTriggers = Object.keys(teamWords) as (keyof typeof teamWords)[];
