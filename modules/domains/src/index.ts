export { addLocalDomain, type DnsRecord, getDomain, listDomains, normalizeDomain, senderProblem } from './domains.ts';
