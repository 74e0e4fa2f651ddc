// A process that renders one document at a time (worker.ts). A thread would not do: nothing ends a thread while Typst computes,
// and the exit of the server would wait for it.
import { type ChildProcess, fork } from 'node:child_process'
import { extname } from 'node:path'
import { ApiError } from '../base/errors.ts'

export interface RenderRequest {
	/** An InvoiceDocument as JSON text. */
	readonly document: string
	/** Unix milliseconds. */
	readonly createdAt: number
}
/** The worker is `ready` once, when it has read its fonts. */
export type RenderAnswer = { readonly ready: true } | { readonly pdf: Uint8Array } | { readonly error: string }

const idleMs = 60_000

/** A start is no part of the time for a render, which may be short. */
const startMs = 30_000

/** The process was ended, so that the next render has a new one. */
export class TookTooLong extends ApiError {
	constructor(limitMs: number) {
		const detail = `The PDF took longer than ${limitMs / 1000} s to render.`
		super('unavailable', detail, { headers: { 'Retry-After': '60' } })
	}
}

export class RenderProcess {
	readonly #child: ChildProcess
	#underWay: PromiseWithResolvers<Uint8Array> | undefined
	#failure: Error = new Error('The PDF process ended')
	#timer: NodeJS.Timeout | undefined
	#isReady = false
	#limitMs = 0

	constructor(onExit: () => void) {
		// A `.ts` in the sources, a `.js` in the build. It gets no settings, and so no secrets.
		const file = new URL(`worker${extname(import.meta.url)}`, import.meta.url)
		this.#child = fork(file, { env: {}, execArgv: [], serialization: 'advanced', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
		this.#child.on('message', (answer: RenderAnswer) => {
			if ('ready' in answer) this.#beReady()
			else if ('pdf' in answer) this.#settle()?.resolve(new Uint8Array(answer.pdf))
			else this.#settle()?.reject(new Error(answer.error))
		})
		const ended = () => {
			onExit()
			this.#settle()?.reject(this.#failure)
			clearTimeout(this.#timer)
		}
		this.#child.on('error', (error) => {
			this.#failure = error
			if (this.#child.pid !== undefined) return
			// It could not start, and so has no exit.
			this.#failure = new ApiError('unavailable', 'The server cannot start a process that renders the PDF.', {
				headers: { 'Retry-After': '10' },
				cause: error,
			})
			ended()
		})
		this.#child.once('exit', ended)
	}

	get isFree(): boolean {
		return !this.#underWay
	}

	/** Rejects with Typst's message, or when the process ends: also because it took longer than `limitMs`. */
	render(request: RenderRequest, limitMs: number): Promise<Uint8Array> {
		const underWay = Promise.withResolvers<Uint8Array>()
		this.#underWay = underWay
		this.#hold(true)
		this.#limitMs = limitMs
		this.#limit(this.#isReady ? limitMs : Math.max(limitMs, startMs))
		// A failure to send means that the process ended: its exit rejects the render.
		this.#child.send(request, () => {})
		return underWay.promise
	}

	#beReady(): void {
		this.#isReady = true
		if (this.#underWay) this.#limit(this.#limitMs)
	}

	#limit(ms: number): void {
		clearTimeout(this.#timer)
		this.#timer = setTimeout(() => {
			this.#failure = new TookTooLong(ms)
			this.end()
		}, ms)
	}

	end(): void {
		this.#child.kill('SIGKILL')
	}

	/** Ends the render under way; the process ends too unless it gets another one within a minute. */
	#settle(): PromiseWithResolvers<Uint8Array> | undefined {
		const underWay = this.#underWay
		this.#underWay = undefined
		clearTimeout(this.#timer)
		this.#timer = setTimeout(() => this.end(), idleMs).unref()
		this.#hold(false)
		return underWay
	}

	/** Only a render under way keeps the server's process alive. */
	#hold(isUnderWay: boolean): void {
		const change = isUnderWay ? 'ref' : 'unref'
		this.#child[change]()
		this.#child.channel?.[change]()
	}
}
