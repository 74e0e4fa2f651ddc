// Types of the part of autocannon that the benchmark uses; the package has none.
declare module 'autocannon' {
	interface Options {
		readonly url: string
		readonly connections: number
		readonly duration: number
		readonly requests: readonly { method: string; path: string; headers: Record<string, string>; body?: string }[]
	}

	interface Result {
		readonly duration: number
		readonly errors: number
		readonly non2xx: number
		readonly requests: { readonly total: number }
		readonly latency: { readonly p50: number; readonly p99: number }
	}

	export default function autocannon(options: Options): Promise<Result>
}
