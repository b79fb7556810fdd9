import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from '@postroom/domains';
import { config } from '@postroom/platform';

/** What is wrong with a host that mail is to go to; `undefined` when nothing is. Names are looked at when they are resolved. */
export function hostProblem(host: string): string | undefined {
  if (host.length > 253 || !(isIP(host) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(host))) {
    return 'must be a host name, such as smtp.example.com';
  }
  return isIP(host) === 0 || mayReach(host) ? undefined : `must not be ${host}, a private or reserved address`;
}

const mayReach = (address: string) => config.PROVIDERS_ALLOW_PRIVATE || isPublicAddress(address);

/**
 * Resolves names as the system does, and passes on only addresses of the public internet: whoever sets up a mail server
 * chooses what its name stands for, and must not have us knock at doors inside our own network.
 */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    if (error !== null) return callback(error, []);
    const open = found.filter(({ address }) => mayReach(address));
    const [first] = open;
    if (first === undefined) return callback(refused(hostname), []);
    if (options.all === true) callback(null, open);
    else callback(null, first.address, first.family);
  });
};

function refused(hostname: string): NodeJS.ErrnoException {
  const message = `${hostname} resolves to private or reserved addresses only, where mail of projects does not go.`;
  return Object.assign(new Error(message), { code: 'REFUSED_ADDRESS' });
}
