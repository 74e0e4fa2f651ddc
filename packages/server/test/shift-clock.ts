// Loaded into a process by `--import`: its clock goes as many milliseconds ahead of the machine's as CLOCK_AHEAD_MS says, and jumps a day
// ahead at SIGUSR2.
let aheadMs = Number(process.env.CLOCK_AHEAD_MS)
process.on('SIGUSR2', () => {
	aheadMs += 86_400_000
})
const { now } = Date
const shifted = () => now() + aheadMs

globalThis.Date = class extends Date {
	constructor(...values: [] | [number]) {
		super(...(values.length === 0 ? ([shifted()] as const) : values))
	}

	static override now = shifted
} as DateConstructor

export {}
