export interface Owner {
  uid: number;
  gid: number;
}
