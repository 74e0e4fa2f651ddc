// Loaded into a process by `--import`: its clock goes as many milliseconds ahead of the machine's as CLOCK_AHEAD_MS says, and jumps a day
// ahead at SIGUSR2. After SIGIO its monotonic clock is as if the machine had been suspended for three minutes.
let aheadMs = Number(process.env.CLOCK_AHEAD_MS)
process.on('SIGUSR2', () => {
	aheadMs += 86_400_000
})
let suspendedMs = 0
process.on('SIGIO', () => {
	suspendedMs = 180_000
})
const monotonic = performance.now.bind(performance)
performance.now = () => monotonic() - suspendedMs
const { now } = Date
const shifted = () => now() + aheadMs

globalThis.Date = class extends Date {
	constructor(...values: [] | [number]) {
		super(...(values.length === 0 ? ([shifted()] as const) : values))
	}

	static override now = shifted
} as DateConstructor

export {}
