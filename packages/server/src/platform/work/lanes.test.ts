import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LaneOwner, Lanes } from './lanes.ts'

const owner = (endpoint: number, organization = 0) => ({
	organizationId: `org_${organization}`,
	endpointId: `whe_${organization}_${endpoint}`,
	host: `${organization}.example`,
})

const limits = {
	slots: 200,
	slotsOf: { untried: 5, works: 25, fails: 2 },
	silentMs: 2_000,
	slotsPerHost: 100,
	hostRate: 0,
	failuresBeforeRest: 10,
	restMs: 100,
}

const newLanes = (monotonic?: () => number) =>
	new Lanes(({ endpointId }: ReturnType<typeof owner> & LaneOwner) => endpointId, limits, monotonic)

/** Lanes of endpoints whose last attempt succeeded. */
function proven(...owners: ReturnType<typeof owner>[]) {
	const lanes = newLanes()
	for (const one of owners) {
		lanes.begin(one)
		lanes.end(one, { failed: false })
	}
	return lanes
}

describe('the lanes', () => {
	it('have room for five attempts to an endpoint that is new, and for 25 once one has worked', () => {
		const lanes = newLanes()
		expect(lanes.roomOf(owner(0), 0)).toBe(5)
		for (let attempt = 0; attempt < 5; attempt++) lanes.begin(owner(0))
		expect(lanes.roomOf(owner(0), 0)).toBe(0)
		lanes.end(owner(0), { failed: false })
		expect(lanes.roomOf(owner(0), 0)).toBe(21)
	})

	it('have room for half of what other organizations leave, so that there is some for the next one', () => {
		const endpoints = [0, 1, 2, 3].flatMap((organization) =>
			[0, 1, 2, 3, 4].map((endpoint) => ({ ...owner(endpoint, organization), host: `${endpoint}.${organization}.example` })),
		)
		const lanes = proven(...endpoints)
		const begun = [0, 0, 0, 0]
		for (const one of endpoints) {
			for (; lanes.roomOf(one, 0) > 0; lanes.begin(one))
				begun[Number(one.organizationId.at(-1))] = (begun[Number(one.organizationId.at(-1))] ?? 0) + 1
		}
		expect(begun).toEqual([100, 50, 25, 13])
		expect([lanes.running, lanes.room, lanes.roomOf(owner(9, 0), 0), lanes.roomOf(owner(9, 4), 0)]).toEqual([188, 12, 0, 5])
	})

	it('have room for half of what other endpoints of a host leave there, so that there is some for the next one', () => {
		const endpoints = [0, 1, 2, 3, 4].map((organization) => ({ ...owner(0, organization), host: 'relay.example' }))
		const lanes = proven(...endpoints)
		const begun = endpoints.map((one) => {
			let count = 0
			for (; lanes.roomOf(one, 0) > 0; count++) lanes.begin(one)
			return count
		})
		expect(begun).toEqual([25, 25, 25, 13, 6])
		expect(lanes.roomOf({ ...owner(0, 9), host: 'relay.example' }, 0)).toBe(3)
	})

	it('have room for half of what is left besides what is planned to others', () => {
		const lanes = proven(owner(0))
		const room = (planned: Partial<Parameters<typeof lanes.roomOf>[2]>) =>
			lanes.roomOf(owner(0), 0, { all: 0, organization: 0, host: 0, ...planned })
		expect([room({}), room({ all: 190 }), room({ host: 96 })]).toEqual([25, 5, 2])
		expect([room({ all: 90, organization: 90 }), room({ all: 100, organization: 100 })]).toEqual([10, 0])
	})

	it('have room for five attempts to an endpoint that worked some time ago, and for two while it says nothing', () => {
		let time = 1
		const lanes = newLanes(() => time)
		const room = () => lanes.roomOf(owner(0), 0)
		lanes.begin(owner(0))
		lanes.end(owner(0), { failed: false })
		time += 2_000
		expect(room()).toBe(25)
		time++
		expect(room()).toBe(5)
		lanes.begin(owner(0))
		time += 2_000
		expect(room()).toBe(4)
		time++
		expect(room()).toBe(1)
		lanes.begin(owner(0))
		expect(room()).toBe(0)
		lanes.end(owner(0), { failed: false })
		expect(room()).toBe(24)
	})

	it('have room for two attempts to an endpoint that failed, until it works', () => {
		const lanes = proven(owner(0))
		lanes.begin(owner(0))
		lanes.end(owner(0), { failed: true })
		expect(lanes.roomOf(owner(0), 0)).toBe(2)
		lanes.begin(owner(0))
		lanes.begin(owner(0))
		expect(lanes.roomOf(owner(0), 0)).toBe(0)
		lanes.end(owner(0), { failed: false })
		expect(lanes.roomOf(owner(0), 0)).toBe(24)
	})

	it('have none for an endpoint that fails while five attempts run, until fewer than two still do', () => {
		const lanes = newLanes()
		for (let attempt = 0; attempt < 5; attempt++) lanes.begin(owner(0))
		lanes.end(owner(0), { failed: true })
		expect(lanes.roomOf(owner(0), 0)).toBeLessThanOrEqual(0)
		for (let attempt = 0; attempt < 3; attempt++) lanes.end(owner(0), { failed: true })
		expect(lanes.roomOf(owner(0), 0)).toBe(1)
	})

	it('let an endpoint that failed ten times rest for a tenth of a second, until one works', () => {
		let time = 1
		const lanes = newLanes(() => time)
		const end = (failed: boolean) => {
			lanes.begin(owner(0))
			lanes.end(owner(0), { failed })
			return lanes.roomOf(owner(0), 0)
		}
		for (let failure = 1; failure < 10; failure++) expect(end(true)).toBe(2)
		expect(end(true)).toBe(0)
		time += 100
		expect(lanes.roomOf(owner(0), 0)).toBe(2)
		expect(end(true)).toBe(0)
		expect(end(false)).toBe(25)
	})

	it('have none for an endpoint that asked for a pause, until it is over', () => {
		const lanes = newLanes()
		lanes.begin(owner(0))
		lanes.end(owner(0), { failed: true, pause: { from: 0, until: 1_000 } })
		expect([lanes.roomOf(owner(0), 999), lanes.roomOf(owner(1), 999)]).toEqual([0, 5])
		expect(lanes.roomOf(owner(0), 1_000)).toBe(2)
		expect([0, 1].map((resumedAt) => lanes.roomOf({ ...owner(0), resumedAt }, 999))).toEqual([0, 2])
	})

	it('begin no pause anew when the clock is set back', () => {
		const lanes = newLanes()
		lanes.begin(owner(0))
		lanes.end(owner(0), { failed: true, pause: { from: 500_000, until: 501_000 } })
		expect([300_000, 500_000, 501_000].map((now) => lanes.roomOf(owner(0), now))).toEqual([2, 0, 2])
	})

	it('keep a pause that an endpoint asked for while another attempt to it succeeds', () => {
		const lanes = newLanes()
		lanes.begin(owner(0))
		lanes.begin(owner(0))
		lanes.end(owner(0), { failed: true, pause: { from: 0, until: 1_000 } })
		lanes.end(owner(0), { failed: false })
		expect(lanes.roomOf(owner(0), 999)).toBe(0)
	})

	it('remember ten thousand endpoints, and beyond that only those with attempts under way', () => {
		const lanes = proven(...Array.from({ length: 10_000 }, (_, endpoint) => owner(endpoint)))
		lanes.begin(owner(1))
		lanes.begin(owner(10_000))
		expect([lanes.roomOf(owner(0), 0), lanes.roomOf(owner(1), 0)]).toEqual([5, 24])
	})

	it('count right whatever ends in whatever order', () => {
		const step = fc.record({ endpoint: fc.nat({ max: 2 }), begins: fc.boolean(), failed: fc.boolean() })
		fc.assert(
			fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
				let time = 0
				const lanes = newLanes(() => (time += 1_000))
				const running = [0, 0, 0]
				const of = (endpoint: number) => running[endpoint] ?? 0
				for (const { endpoint, begins, failed } of steps) {
					if (begins && lanes.roomOf(owner(endpoint), 0) > 0) {
						lanes.begin(owner(endpoint))
						running[endpoint] = of(endpoint) + 1
					} else if (!begins && of(endpoint) > 0) {
						lanes.end(owner(endpoint), { failed })
						running[endpoint] = of(endpoint) - 1
						expect(lanes.roomOf(owner(endpoint), 0)).toBe((failed ? 2 : 25) - of(endpoint))
					}
				}
				const total = running.reduce((sum, count) => sum + count, 0)
				expect([lanes.running, lanes.room]).toEqual([total, 200 - total])
			}),
		)
	})
})
