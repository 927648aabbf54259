import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { type LifecycleFunction, lifecycleFunctions } from './functions.ts';
import { definition } from './lifecycle.ts';
import type { Arns } from './state-builders.ts';

export interface LifecycleProps {
  functions: Record<LifecycleFunction, lambda.IFunction>;
}

/** The state machine of runs. */
export class Lifecycle extends Construct {
  readonly machine: sfn.StateMachine;

  constructor(scope: Construct, id: string, { functions }: LifecycleProps) {
    super(scope, id);
    const arns = Object.fromEntries(lifecycleFunctions.map((name) => [name, functions[name].functionArn])) as Arns;
    this.machine = new sfn.StateMachine(this, 'Runs', {
      definitionBody: sfn.DefinitionBody.fromString(Stack.of(this).toJsonString(definition(arns))),
      stateMachineType: sfn.StateMachineType.STANDARD,
      comment: 'The life of a Terraform run',
    });
    this.machine.addToRolePolicy(
      new iam.PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: Object.values(arns) }),
    );
  }

  get stateMachineArn(): string {
    return this.machine.stateMachineArn;
  }
}
