// What an installation on PostgreSQL can serve, and what limits it first: each part can be busy for a share of the time, and a request takes some of
// that of each part (the utilization law of queueing networks). Requests wait the longer the busier a part is, about three times as long as
// they take at 70 % (M/M/1), so no part is planned to be busier.

/** What a request of a kind costs, in µs of CPU. */
export interface Cost {
	/** In a server's process, which uses one core. */
	readonly process: number
	/** In PostgreSQL. */
	readonly database: number
}

export type Kind = 'get' | 'list' | 'create'

export interface Measured {
	readonly costs: Readonly<Record<Kind, Cost>>
	/** How many µs an organization's changes wait for each other, each: its numbers have no gaps. */
	readonly serial: number
	/** µs of PostgreSQL's CPU a second that a process takes while nothing is to be done. */
	readonly idle: number
}

interface Installation {
	readonly organizations: number
	readonly processes: number
	readonly databaseCores: number
}

/** Of 100 requests: 80 read a record, 15 a list, 5 create. */
const mix: Readonly<Record<Kind, number>> = { get: 0.8, list: 0.15, create: 0.05 }

const busiest = 0.7

const kinds = Object.keys(mix) as Kind[]

/** What an average request of the mix costs. */
const average = ({ costs }: Measured, part: keyof Cost) => kinds.reduce((sum, kind) => sum + mix[kind] * costs[kind][part], 0)

/** The share of all requests that the busiest of them has, where the second has half as many, the third a third (Zipf). */
export function shareOfBusiest(organizations: number): number {
	let sum = 0
	for (let rank = 1; rank <= organizations; rank++) sum += 1 / rank
	return 1 / sum
}

interface Limit {
	/** Requests a second at which the first part is as busy as it may be. */
	readonly perSecond: number
	readonly first: 'processes' | 'database' | 'busiest organization'
}

export function limitOf(measured: Measured, { organizations, processes, databaseCores }: Installation): Limit {
	const usable = busiest * databaseCores * 1e6 - processes * measured.idle
	const limits: Limit[] = [
		{ first: 'processes', perSecond: (busiest * processes * 1e6) / average(measured, 'process') },
		{ first: 'database', perSecond: Math.max(0, usable) / average(measured, 'database') },
		{
			first: 'busiest organization',
			perSecond: (busiest * 1e6) / (shareOfBusiest(organizations) * mix.create * measured.serial),
		},
	]
	return limits.reduce((lowest, limit) => (limit.perSecond < lowest.perSecond ? limit : lowest))
}

/** The most requests of one kind a second where processes and database share the cores of one machine, and nothing is kept free. */
export function mostTogether({ process, database }: Cost, processes: number, cores: number): number {
	return Math.min((processes * 1e6) / process, (cores * 1e6) / (process + database))
}
