import { type AutoDestroyEvent, autoDestroyTriggers } from './auto-destroy.ts';
import { type ChangeRequestEvent, changeRequestTriggers } from './change-request.ts';
import { type HealthEvent, healthTriggers } from './health.ts';
import type { TriggerWords } from './message.ts';
import { type RunEvent, runTriggers } from './run.ts';

/**
 * Kinds of notifications. A new one is a file beside this, a file in `notifications/kinds/`, and a line in each of the lists
 * below, which the compiler asks for.
 */

/** Input of the function Notify. Each `id` stays the same however often the event is delivered. */
export type NotificationEvent = RunEvent | AutoDestroyEvent | HealthEvent | ChangeRequestEvent;
export type NotificationKind = NotificationEvent['kind'];

const workspaceWords = { ...runTriggers, ...autoDestroyTriggers, ...healthTriggers };
const teamWords = changeRequestTriggers;

export type Trigger = keyof typeof workspaceWords | keyof typeof teamWords;

export const triggerWords: Readonly<Record<Trigger, TriggerWords>> = { ...workspaceWords, ...teamWords };

/** Of workspaces and projects. */
export const triggers = Object.keys(workspaceWords) as (keyof typeof workspaceWords)[];
export const teamTriggers = Object.keys(teamWords) as (keyof typeof teamWords)[];
