import { type TaskStage, taskStages } from '#run/check-record.ts';
import { stageNames } from '../text/run-task.ts';
import { Choices, type Option, Select } from './fields.tsx';

/** Stages and enforcement level of a run task, global or of a workspace. */

const hints: Record<TaskStage, string> = {
  pre_plan: 'Checks the configuration before the plan starts.',
  post_plan: 'Checks the plan.',
  pre_apply: 'Checks the plan after the confirmation, before resources change.',
  post_apply: 'Receives the result. Cannot stop the run.',
};

const stageOptions: Option[] = taskStages.map((stage) => [stage, stageNames[stage], hints[stage]]);

const levels = [
  ['advisory', 'Advisory: a failure is a warning'],
  ['mandatory', 'Mandatory: a failure ends the run'],
] as const;

export const AskedFields = ({
  saved = {},
}: {
  saved?: { stages?: readonly string[]; 'enforcement-level'?: string };
}) => (
  <>
    <Choices
      legend="Stages"
      name="stages"
      options={stageOptions}
      chosen={saved.stages?.length ? saved.stages : ['post_plan']}
    />
    <Select label="Enforcement" name="enforcement-level" options={levels} value={saved['enforcement-level']} />
  </>
);
