import type { TaskStage } from '#run/check-record.ts';

/** Display texts of run tasks. */

export const stageNames: Record<TaskStage, string> = {
  pre_plan: 'Pre-plan',
  post_plan: 'Post-plan',
  pre_apply: 'Pre-apply',
  post_apply: 'Post-apply',
};

/** `Pre-plan and Post-plan, mandatory` */
export const whenAsked = (stages: TaskStage[], enforcementLevel: string): string => {
  const names = stages.map((stage) => stageNames[stage] ?? stage);
  const last = names.pop() ?? 'never';
  return `${names.length ? `${names.join(', ')} and ${last}` : last}, ${enforcementLevel}`;
};
