import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Aws } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { Bundles } from '#infra/build/bundle.ts';
import { type RunnerImage, type RunnerProgram, runnerImage } from '#infra/build/runner-image.ts';
import type { Settings } from '#infra/settings/settings.ts';
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts';
import { removalPolicy } from './storage.ts';

const containerName = 'runner';

/** Capabilities that containers have by default (Docker's list); Fargate allows adding only SYS_PTRACE. */
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
/** Names of architectures in ECS (RuntimePlatform). */
const architectures = { arm64: 'ARM64', x86_64: 'X86_64' } as const;

export interface RunnersProps {
  settings: Settings;
  /** Of the platform. */
  name: string;
  bundles: Bundles;
}

/**
 * The containers that run Terraform: one per phase or held run, on Fargate. They run customers' code, so they have no
 * permission in this account, no inbound network, and a read-only root file system. Any process in the task can fetch
 * credentials of the task role from 169.254.170.2 if it knows the path; the role allows nothing.
 */
export class Runners extends Construct {
  readonly clusterArn: string;
  readonly taskDefinitionArn: string;
  /** The task definition in any revision. */
  readonly anyRevisionArn: string;
  readonly anyTaskArn: string;
  readonly executionRole: iam.Role;
  readonly taskRole: iam.Role;
  readonly logGroup: logs.LogGroup;
  /** Set if the image does not contain the program. */
  readonly program: RunnerProgram | undefined;
  readonly #subnetIds: string[];
  readonly #securityGroupId: string;
  readonly #publicIp: boolean;

  constructor(scope: Construct, id: string, { settings, name, bundles }: RunnersProps) {
    super(scope, id);
    const { vpcId, subnetIds } = this.#network(settings);
    this.#subnetIds = subnetIds;
    // A new network has no other route to the internet; an existing one usually has NAT, where a public address only
    // costs money.
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
      ECS4: 'Container Insights is billed per task and metric, and runners live for minutes: their timings and end reasons are in the run and on the dashboard.',
    });
    this.clusterArn = cluster.attrArn;
    this.anyTaskArn = `arn:${Aws.PARTITION}:ecs:${Aws.REGION}:${Aws.ACCOUNT_ID}:task/${cluster.ref}/*`;

    this.logGroup = new logs.LogGroup(this, 'Log', {
      retention: settings.logRetentionDays,
      removalPolicy: removalPolicy(settings),
    });
    const image = runnerImage(this, settings, bundles);
    this.program = image.program;
    this.taskRole = new iam.Role(this, 'TaskRole', {
      assumedBy: new iam.ServicePrincipal('ecs-tasks.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
      description: "Stepform: runners. Has no permissions. Do not add any: customers' code runs with this role.",
    });
    this.executionRole = this.#executionRole(image);

    const family = `${name}-runner`;
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

  /** No NAT gateways: they cost money while nothing runs. */
  #network({ vpcId, subnetIds }: Settings): { vpcId: string; subnetIds: string[] } {
    if (vpcId && subnetIds) return { vpcId, subnetIds };
    const vpc = new ec2.Vpc(this, 'Network', {
      maxAzs: 2,
      natGateways: 0,
      subnetConfiguration: [{ name: 'runners', subnetType: ec2.SubnetType.PUBLIC, mapPublicIpOnLaunch: false }],
      // Gateway endpoints are free and keep states and archives off the internet.
      gatewayEndpoints: { S3: { service: ec2.GatewayVpcEndpointAwsService.S3 } },
    });
    acknowledge(vpc, {
      VPC7: 'Flow logs are billed by volume, and nearly all of it would be provider downloads. Nothing listens in this network; companies that must record flows use their own network (vpcId, subnetIds).',
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
          // The maximum on Fargate: Terraform gets time to finish its operation and to write its state.
          stopTimeout: 120,
          // The init process reaps orphans of Terraform's processes. Root keeps the capabilities to start those as
          // other users, to read their files and to end them: CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID.
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

  /** Permissions of Fargate itself for a runner: pull the image, write the container's log. */
  #executionRole({ repositoryArn }: RunnerImage): iam.Role {
    // A public image needs no permission.
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
      'ecr:GetAuthorizationToken has no resource type (service authorization reference: ECR).',
    );
    return role;
  }
}
