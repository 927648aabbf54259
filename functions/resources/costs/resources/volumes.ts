import { type Bill, UnpricedError, type Values } from '../bill.ts';

/** EBS: IOPS and throughput included in the price of gp3 (EBS pricing). */
const gp3 = { iops: 3_000, throughput: 125 };
/** Above this number of IOPS the price of io2 decreases in steps. */
const io2FirstStep = 32_000;

const types = ['gp2', 'gp3', 'io1', 'io2', 'st1', 'sc1', 'standard'];

/** A volume by `<prefix>type`, size in GiB, IOPS, and throughput in MiB/s. @throws {UnpricedError} */
export const billVolume = (bill: Bill, type: string, values: Values, size: number): void => {
  if (!types.includes(type)) throw new UnpricedError(`no price for volumes of type ${type.slice(0, 40)}`);
  bill.monthly(`ebs/${type}`, size);
  const iops = values.number('iops') ?? 0;
  if (type === 'gp3') {
    bill.monthly('ebs/gp3-iops', Math.max(0, iops - gp3.iops));
    bill.monthly('ebs/gp3-throughput', Math.max(0, (values.number('throughput') ?? 0) - gp3.throughput));
  }
  if (type === 'io1' || type === 'io2') {
    if (type === 'io2' && iops > io2FirstStep) {
      throw new UnpricedError(`no price for io2 volumes with more than ${io2FirstStep} IOPS`);
    }
    bill.monthly(`ebs/${type}-iops`, iops);
  }
  if (type === 'standard') bill.assume('no I/O requests');
};

/** The root volume of common Linux images. */
const imageVolume = { type: 'gp3', size: 8 };

/** The root volume of a machine: from its block, else the default of its image. */
export const billRootVolume = (bill: Bill, block: Values | undefined): void => {
  const size = block?.number('volume_size');
  const type = block?.text('volume_type') ?? imageVolume.type;
  if (size === undefined) bill.assume(`a root volume of ${imageVolume.size} GiB`);
  if (block) billVolume(bill, type, block, size ?? imageVolume.size);
  else bill.monthly(`ebs/${type}`, imageVolume.size);
};

/** Further volumes of a machine. The size of a snapshot is not in the plan. */
export const billBlockDevice = (bill: Bill, block: Values): void => {
  billVolume(bill, block.text('volume_type') ?? 'gp2', block, block.needNumber('volume_size'));
};
