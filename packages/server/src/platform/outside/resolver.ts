// Finds the addresses of hosts that callers name. The system's own look-up (getaddrinfo) holds one of four threads until the
// name server answers, and cannot be cancelled: four names of a dead name server would stop every tenant's look-ups, and the
// files and hashes that wait for those threads. c-ares asks the name servers of resolv.conf by itself and can be cancelled.
import { promises as dns } from 'node:dns'
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'

export interface Address {
	readonly address: string
	readonly family: 4 | 6
}

/** The server's own name servers gave no answer in time, or this caller has too many look-ups under way. It may try again. */
export class ResolverUnavailable extends Error {}

/**
 * All addresses of a name; rejects when it has none, and with ResolverUnavailable when it is not known whether it has any.
 * `tenant` is the organization that the look-up is for, as far as it is known.
 */
export type Lookup = (hostname: string, tenant?: string) => Promise<readonly Address[]>

/** A look-up that takes longer is cancelled. */
const defaultTimeoutMs = 5_000
const firstTryMs = 2_000
const tries = 2

/** An answer is kept for as long as its TTL says, and at most this long. */
const longestMs = 60_000
const failureMs = 5_000
const maxHosts = 10_000

/** Look-ups under way, in this process and for one tenant. */
const maxLookups = 256
const maxLookupsPerTenant = 8

interface ResolverOptions {
	/** Asked instead of the name servers of resolv.conf, each as `address:port`. */
	readonly servers?: readonly string[]
	readonly hostsFile?: string
	readonly timeoutMs?: number
	/** A clock in milliseconds that never goes back. */
	readonly monotonic?: () => number
}

interface Known {
	readonly answer: Promise<readonly Address[]>
	/** By the monotonic clock; infinite while the look-up is under way. */
	until: number
}

interface Found {
	readonly addresses: readonly Address[]
	readonly ttlMs: number
}

/**
 * Returns a look-up that asks once at a time for a host, whoever waits for it, and remembers the answer. It knows no search
 * domains. It rejects with ResolverUnavailable when no name server answered in time or the tenant's share of look-ups is used
 * up, and with another error when the host has no address. Look-ups without a tenant are those of dials, which the lanes of the
 * webhook engine limit.
 */
export function openResolver(options: ResolverOptions = {}): Lookup {
	const { servers, timeoutMs = defaultTimeoutMs, monotonic = () => performance.now() } = options
	const hosts = new HostsFile(options.hostsFile)
	const known = new Map<string, Known>()
	const shares = new Shares()

	function begin(name: string, tenant: string | undefined): Known {
		const endShare = shares.begin(tenant)
		const found = query(name, timeoutMs, servers)
		const entry: Known = { answer: found.then(({ addresses }) => addresses), until: Number.POSITIVE_INFINITY }
		const end = (ms: number) => {
			endShare()
			entry.until = monotonic() + ms
		}
		found.then(
			({ ttlMs }) => end(Math.min(ttlMs, longestMs)),
			() => end(failureMs),
		)
		if (known.size >= maxHosts)
			for (const [other, { until }] of known) if (until !== Number.POSITIVE_INFINITY) known.delete(other)
		known.set(name, entry)
		return entry
	}

	return async (hostname, tenant) => {
		const name = hostname.toLowerCase().replace(/\.$/, '')
		const fixed = hosts.addressesOf(name)
		if (fixed) return fixed
		const entry = known.get(name)
		return (entry && entry.until > monotonic() ? entry : begin(name, tenant)).answer
	}
}

/** Counts look-ups under way, so that one tenant's slow name servers leave room for others'. */
class Shares {
	readonly #ofTenants = new Map<string, number>()
	#all = 0

	/** Returns a function that ends the look-up. Throws ResolverUnavailable when there is no room. */
	begin(tenant: string | undefined): () => void {
		if (tenant === undefined) return () => {}
		const own = this.#ofTenants.get(tenant) ?? 0
		if (own >= maxLookupsPerTenant) throw new ResolverUnavailable('Too many look-ups of this organization wait for name servers.')
		if (this.#all >= maxLookups) throw new ResolverUnavailable('Too many look-ups wait for name servers.')
		this.#all++
		this.#ofTenants.set(tenant, own + 1)
		return () => {
			this.#all--
			const left = (this.#ofTenants.get(tenant) ?? 1) - 1
			if (left > 0) this.#ofTenants.set(tenant, left)
			else this.#ofTenants.delete(tenant)
		}
	}
}

/** Asks for both families. A resolver of its own, because `cancel` ends all queries of a resolver; it reads resolv.conf anew. */
async function query(name: string, timeoutMs: number, servers: readonly string[] | undefined): Promise<Found> {
	const resolver = new dns.Resolver({ timeout: firstTryMs, tries })
	if (servers) resolver.setServers(servers)
	const timer = setTimeout(() => resolver.cancel(), timeoutMs)
	const [four, six] = await Promise.allSettled([resolver.resolve4(name, { ttl: true }), resolver.resolve6(name, { ttl: true })])
	clearTimeout(timer)
	// IPv4 first: a machine without IPv6 then loses no time.
	const records = [
		...(four.status === 'fulfilled' ? four.value.map((record) => ({ ...record, family: 4 as const })) : []),
		...(six.status === 'fulfilled' ? six.value.map((record) => ({ ...record, family: 6 as const })) : []),
	]
	if (records.length > 0) {
		const addresses = records.map(({ address, family }) => ({ address, family }))
		return { addresses, ttlMs: 1000 * Math.min(...records.map(({ ttl }) => ttl)) }
	}
	const reasons = [four, six].flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as NodeJS.ErrnoException] : []))
	const isUnanswered = reasons.some(({ code }) => unanswered.has(code ?? '')) && reasons.every(({ code }) => code !== 'ENOTFOUND')
	throw isUnanswered
		? new ResolverUnavailable('No name server answered in time.', { cause: reasons })
		: (reasons[0] ?? new Error())
}

/** What c-ares says when no name server answered. A name server that answers SERVFAIL speaks about the host. */
const unanswered = new Set(['ETIMEOUT', 'ECANCELLED', 'ECONNREFUSED'])

/** How long a look at the hosts file is good for, so that many look-ups cost one. */
const lookAgainMs = 1_000

/** The names that the machine itself gives to addresses, by hosts(5). Other programs look there before they ask a name server. */
class HostsFile {
	readonly #path: string
	#names = new Map<string, Address[]>()
	#state = ''
	#lookAt = 0

	constructor(path = '/etc/hosts') {
		this.#path = path
	}

	/** The addresses of a name in lower case without a trailing dot; undefined when the file does not have it. */
	addressesOf(name: string): readonly Address[] | undefined {
		if (performance.now() >= this.#lookAt) this.#look()
		return this.#names.get(name)
	}

	/** Reads the file when it has changed. A machine without the file has no names of its own. */
	#look(): void {
		this.#lookAt = performance.now() + lookAgainMs
		try {
			const { mtimeMs, size, ino } = statSync(this.#path)
			const state = `${mtimeMs} ${size} ${ino}`
			if (state === this.#state) return
			this.#names = namesIn(readFileSync(this.#path, 'utf8'))
			this.#state = state
		} catch {
			this.#names = new Map()
			this.#state = ''
		}
	}
}

function namesIn(text: string): Map<string, Address[]> {
	const names = new Map<string, Address[]>()
	for (const line of text.split('\n')) {
		const [address = '', ...of] = line.replace(/#.*/, '').trim().split(/\s+/)
		const family = isIP(address)
		if (family !== 4 && family !== 6) continue
		for (const name of of) {
			const key = name.toLowerCase()
			const known = names.get(key)
			if (known) known.push({ address, family })
			else names.set(key, [{ address, family }])
		}
	}
	return names
}
