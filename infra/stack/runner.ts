import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Aws } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { type RunnerImage, type RunnerProgram, runnerImage } from '#infra/build/runner-image.ts';
import type { Settings } from '#infra/settings/settings.ts';
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts';
import { removalPolicy } from './storage.ts';

const containerName = 'runner';

/** Of those that containers have unless told otherwise (Docker's defaults; Fargate lets nothing but SYS_PTRACE be added). */
const unneededCapabilities = [
  'AUDIT_WRITE',
  'FSETID',
  'MKNOD',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SETFCAP',
  'SETPCAP',
  'SYS_CHROOT',
];
/** As ECS calls them (ECS: RuntimePlatform). */
const architectures = { arm64: 'ARM64', x86_64: 'X86_64' } as const;

/**
 * Where Terraform runs: a container per phase or held run, on Fargate. Customers' code runs in it, so it has no
 * permission in this account, no inbound network, and a root file system that cannot be written. Credentials of the task
 * role, which any process in the task may ask 169.254.170.2 for if it knows the path, are worth nothing.
 */
export class Runners extends Construct {
  readonly clusterArn: string;
  readonly taskDefinitionArn: string;
  /** The task definition whatever its revision. */
  readonly anyRevisionArn: string;
  readonly anyTaskArn: string;
  readonly executionRole: iam.Role;
  readonly taskRole: iam.Role;
  readonly logGroup: logs.LogGroup;
  /** Where the image does not have it. */
  readonly program: RunnerProgram | undefined;
  readonly #subnetIds: string[];
  readonly #securityGroupId: string;
  readonly #publicIp: boolean;

  /** @param bundle absolute path of the runner program; its folder is the image's build context */
  constructor(scope: Construct, id: string, settings: Settings, bundle: string) {
    super(scope, id);
    const { vpcId, subnetIds } = this.#network(settings);
    this.#subnetIds = subnetIds;
    // A new network has no other way to the internet; an existing one has NAT as a rule, where an address is only a cost.
    this.#publicIp = settings.runnerPublicIp ?? settings.vpcId === undefined;
    this.#securityGroupId = new ec2.CfnSecurityGroup(this, 'SecurityGroup', {
      vpcId,
      groupDescription: 'Stepform runners: everything out, nothing in',
      securityGroupEgress: [
        { ipProtocol: '-1', cidrIp: '0.0.0.0/0', description: 'providers, registries, the platform' },
      ],
    }).attrGroupId;

    const cluster = new ecs.CfnCluster(this, 'Cluster', {
      clusterSettings: [{ name: 'containerInsights', value: 'disabled' }],
    });
    acknowledge(cluster, {
      ECS4: 'Container Insights is billed per task and metric, and runners live for minutes: what an operator needs of them is in the run (timings, end reason) and on the dashboard.',
    });
    this.clusterArn = cluster.attrArn;
    this.anyTaskArn = `arn:${Aws.PARTITION}:ecs:${Aws.REGION}:${Aws.ACCOUNT_ID}:task/${cluster.ref}/*`;

    this.logGroup = new logs.LogGroup(this, 'Log', {
      retention: settings.logRetentionDays,
      removalPolicy: removalPolicy(settings),
    });
    const image = runnerImage(this, settings, bundle);
    this.program = image.program;
    this.taskRole = new iam.Role(this, 'TaskRole', {
      assumedBy: new iam.ServicePrincipal('ecs-tasks.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
      description: 'Stepform: runners. Has no permission, and must not be given any: code of customers runs with it.',
    });
    this.executionRole = this.#executionRole(image);

    const family = `${Aws.STACK_NAME}-runner`;
    this.taskDefinitionArn = this.#taskDefinition(family, settings, image).ref;
    this.anyRevisionArn = `arn:${Aws.PARTITION}:ecs:${Aws.REGION}:${Aws.ACCOUNT_ID}:task-definition/${family}:*`;
  }

  /** For functions that start runners. */
  launchEnvironment(publicUrl: string): Record<string, string> {
    return {
      PUBLIC_URL: publicUrl,
      CLUSTER_ARN: this.clusterArn,
      TASK_DEFINITION_ARN: this.taskDefinitionArn,
      CONTAINER_NAME: containerName,
      SUBNETS: this.#subnetIds.join(','),
      SECURITY_GROUPS: this.#securityGroupId,
      ASSIGN_PUBLIC_IP: String(this.#publicIp),
    };
  }

  /** Without NAT gateways: they cost while nothing runs. */
  #network({ vpcId, subnetIds }: Settings): { vpcId: string; subnetIds: string[] } {
    if (vpcId && subnetIds) return { vpcId, subnetIds };
    const vpc = new ec2.Vpc(this, 'Network', {
      maxAzs: 2,
      natGateways: 0,
      subnetConfiguration: [{ name: 'runners', subnetType: ec2.SubnetType.PUBLIC, mapPublicIpOnLaunch: false }],
      // Costs nothing, and keeps states and archives off the internet.
      gatewayEndpoints: { S3: { service: ec2.GatewayVpcEndpointAwsService.S3 } },
    });
    acknowledge(vpc, {
      VPC7: 'Flow logs are billed by volume, and nearly all of it would be provider downloads. Nothing listens in this network; companies that must record flows bring their own network (vpcId, subnetIds).',
    });
    return { vpcId: vpc.vpcId, subnetIds: vpc.publicSubnets.map(({ subnetId }) => subnetId) };
  }

  #taskDefinition(family: string, settings: Settings, image: RunnerImage): ecs.CfnTaskDefinition {
    return new ecs.CfnTaskDefinition(this, 'TaskDefinition', {
      family,
      requiresCompatibilities: ['FARGATE'],
      runtimePlatform: { cpuArchitecture: architectures[settings.runnerArchitecture], operatingSystemFamily: 'LINUX' },
      networkMode: 'awsvpc',
      cpu: String(settings.runnerCpu),
      memory: String(settings.runnerMemoryMiB),
      ephemeralStorage: settings.runnerDiskGiB > 20 ? { sizeInGiB: settings.runnerDiskGiB } : undefined,
      executionRoleArn: this.executionRole.roleArn,
      taskRoleArn: this.taskRole.roleArn,
      volumes: [{ name: 'work' }],
      containerDefinitions: [
        {
          name: containerName,
          image: image.uri,
          ...image.container,
          essential: true,
          readonlyRootFilesystem: true,
          mountPoints: [{ sourceVolume: 'work', containerPath: '/tmp', readOnly: false }],
          // The most Fargate grants: Terraform gets to finish what it is doing and to write its state.
          stopTimeout: 120,
          // The init process buries what Terraform's processes leave. Root keeps what it takes to start them as other users, to
          // read what they wrote and to end them: CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID.
          linuxParameters: { initProcessEnabled: true, capabilities: { drop: unneededCapabilities } },
          logConfiguration: {
            logDriver: 'awslogs',
            options: {
              'awslogs-group': this.logGroup.logGroupName,
              'awslogs-region': Aws.REGION,
              'awslogs-stream-prefix': containerName,
            },
          },
        },
      ],
    });
  }

  /** What Fargate itself does for a runner: pull the image, write the container's log. */
  #executionRole({ repositoryArn }: RunnerImage): iam.Role {
    // A public image needs no right.
    const pull = repositoryArn
      ? [
          new iam.PolicyStatement({ actions: ['ecr:GetAuthorizationToken'], resources: ['*'] }),
          new iam.PolicyStatement({
            actions: ['ecr:BatchCheckLayerAvailability', 'ecr:GetDownloadUrlForLayer', 'ecr:BatchGetImage'],
            resources: [repositoryArn],
          }),
        ]
      : [];
    const role = new iam.Role(this, 'ExecutionRole', {
      assumedBy: new iam.ServicePrincipal('ecs-tasks.amazonaws.com'),
      description: 'Stepform: starting runners',
      inlinePolicies: {
        Start: new iam.PolicyDocument({
          statements: [
            ...pull,
            new iam.PolicyStatement({
              actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
              resources: [this.logGroup.logGroupArn],
            }),
          ],
        }),
      },
    });
    if (!repositoryArn) return role;
    acknowledgeWildcard(
      role,
      '*',
      'ecr:GetAuthorizationToken knows no resource (service authorization reference: ECR).',
    );
    return role;
  }
}
