import { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { App, CfnOutput, NestedStack, Stack, Tags } from 'aws-cdk-lib/core';
import { Stepform } from 'stepform';

const app = new App();

// A platform in the company's network, with its alarms.
const production = new Stack(app, 'Terraform');
const { url, bootstrapFunction, stateMachine } = new Stepform(production, 'Stepform', {
  vpc: new Vpc(production, 'Network', { natGateways: 1 }),
  alarmTopic: new Topic(production, 'Alarms'),
  runnerCpu: 2048,
  runnerMemoryMiB: 4096,
});
new CfnOutput(production, 'Url', { value: url });
new CfnOutput(production, 'Bootstrap', { value: bootstrapFunction.functionName });
new Alarm(production, 'ManyRuns', {
  metric: stateMachine.metricStarted(),
  threshold: 1000,
  evaluationPeriods: 1,
});

// Another one, in a nested stack of a stack with other things, deleted with it.
const trial = new Stack(app, 'Trial');
new Stepform(new NestedStack(trial, 'Tools'), 'Stepform', { removalPolicy: 'destroy' });

// The company's rules apply to both.
Tags.of(app).add('team', 'platform');
const boundary = ManagedPolicy.fromManagedPolicyName(production, 'Boundary', 'developers');
PermissionsBoundary.of(app).apply(boundary);
