import { UnpricedError } from '../bill.ts';
import type { Pricer } from './pricer.ts';

/** Load balancers, NAT gateways, addresses and endpoints (their pricing pages). Traffic is not in a plan. */

const noTraffic = 'no traffic';

const loadBalancer: Pricer = (values, bill) => {
  const kind = values.text('load_balancer_type') ?? 'application';
  if (!['application', 'network', 'gateway'].includes(kind)) {
    throw new UnpricedError(`no price for load balancers of type ${kind.slice(0, 40)}`);
  }
  bill.hourly(`lb/${kind}`);
  bill.assume(noTraffic);
};

const hourly =
  (item: string): Pricer =>
  (_values, bill) => {
    bill.hourly(item);
    bill.assume(noTraffic);
  };

/** Gateway endpoints are free; the others cost per network interface, one in each subnet. */
const endpoint: Pricer = (values, bill) => {
  const kind = values.text('vpc_endpoint_type') ?? 'Gateway';
  if (kind === 'Gateway') return;
  if (kind !== 'Interface') throw new UnpricedError(`no price for endpoints of type ${kind.slice(0, 40)}`);
  const subnets = values.texts('subnet_ids').length;
  if (subnets === 0) bill.assume('one subnet');
  bill.hourly('vpc-endpoint/interface', Math.max(1, subnets));
  bill.assume(noTraffic);
};

export const network: Record<string, Pricer> = {
  aws_lb: loadBalancer,
  aws_alb: loadBalancer,
  aws_elb: hourly('lb/classic'),
  aws_nat_gateway: hourly('nat/gateway'),
  aws_eip: hourly('ipv4/address'),
  aws_vpc_endpoint: endpoint,
};
