// Renders invoices as PDF/A-3b. A render computes for tens of milliseconds, the longest legal invoice for ten seconds, so other
// processes do it, and organizations take turns. Those who ask for the same document share one render, and its bytes are kept.
import { hash } from 'node:crypto'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { DocumentLogo, InvoiceDocument } from '../../generated/contract.ts'
import { ApiError } from '../base/errors.ts'
import { KeptBytes } from './kept.ts'
import { RenderProcess, type RenderRequest, TookTooLong } from './process.ts'
import { Turns } from './turns.ts'

export interface PdfRenderer {
	/**
	 * The same document and meta give the same bytes. Rejects with Typst's message when Typst cannot set the document; throws 503
	 * when too many renders wait or this one takes too long, and 429 when a link's visitors have used up their time.
	 */
	render(document: InvoiceDocument, meta: PdfMeta): Promise<Uint8Array>
	/** Rejects when the PDF cannot show a logo: with Typst's message or because it takes too long, else as `render` does. */
	tryLogo(logo: DocumentLogo, owner: string): Promise<void>
	/** Rejects all renders. */
	close(): Promise<void>
}

export interface PdfMeta {
	/** Unix milliseconds. */
	readonly createdAt: number
	/** The organization whose turn it takes. */
	readonly owner: string
	/** The link of a visitor. Absent for the organization itself, whose renders go first. */
	readonly visitedLink?: string
	/** Ends the wait of this caller. A render that nobody waits for leaves the queue; one under way goes on, and is kept. */
	readonly signal?: AbortSignal
	/** Instead of the usual time for one render. */
	readonly limitMs?: number
}

export interface RenderLimits {
	/** Time for one render. */
	readonly renderMs: number
	/** Time for the trial of a logo, which each invoice with it would take in addition. */
	readonly logoMs: number
	/** Render time that the visitors of a link may use in a minute; more may be used by the last render of them. */
	readonly visitorMs: number
	/** How many renders of an organization may wait, and as many of its visitors. */
	readonly waitingOfOwner: number
	readonly waiting: number
}

const usual: RenderLimits = { renderMs: 30_000, logoMs: 3_000, visitorMs: 20_000, waitingOfOwner: 20, waiting: 500 }

/** The second one starts only when the first is busy and another organization waits. Each takes some 100 to 400 MB. */
const mostProcesses = 2

const keptBytes = 32_000_000

interface Job {
	readonly key: string
	readonly owner: string
	readonly request: RenderRequest
	readonly link: string | undefined
	readonly limitMs: number
	readonly result: PromiseWithResolvers<Uint8Array>
	isFirst: boolean
	waiters: number
}

const blankDocument: InvoiceDocument = {
	...{ language: 'en', locale: 'en', title: '', number: '', status: { key: 'draft', label: '' } },
	...{ seller: [], buyer: [], facts: [], lines: [], totals: [], columns: { discount: false, tax: false } },
	labels: { billedTo: '', description: '', quantity: '', unitPrice: '', discount: '', tax: '', amount: '' },
	...{ due: null, passages: [], footer: null, viewUrl: null, paymentUrl: null, rates: null, timesheet: null },
}

export const createPdfRenderer = (limits: Partial<RenderLimits> = {}): PdfRenderer => new Renderer({ ...usual, ...limits })

class Renderer implements PdfRenderer {
	readonly #limits: RenderLimits
	readonly #jobs = new Map<string, Job>()
	readonly #turns: Turns<Job>
	readonly #processes = new Set<RenderProcess>()
	readonly #kept = new KeptBytes(keptBytes)
	readonly #spent: RateLimiterMemory
	#closed: Error | undefined

	constructor(limits: RenderLimits) {
		this.#limits = limits
		this.#turns = new Turns({ ofOwner: limits.waitingOfOwner, inAll: limits.waiting })
		this.#spent = new RateLimiterMemory({ points: limits.visitorMs, duration: 60 })
	}

	async render(document: InvoiceDocument, meta: PdfMeta): Promise<Uint8Array> {
		const { createdAt, owner, visitedLink, signal } = meta
		const request = { document: JSON.stringify(document), createdAt }
		const key = `${owner} ${createdAt} ${hash('sha256', request.document)}`
		const kept = this.#kept.get(key)
		if (kept) return kept
		if (visitedLink !== undefined) await this.#requireTime(visitedLink)
		signal?.throwIfAborted()
		const job = this.#jobs.get(key) ?? this.#add(key, request, meta)
		job.isFirst ||= visitedLink === undefined
		return this.#wait(job, signal)
	}

	async tryLogo(logo: DocumentLogo, owner: string): Promise<void> {
		const meta = { createdAt: 0, owner, limitMs: this.#limits.logoMs }
		await this.render({ ...blankDocument, brand: { accentColor: null, logo } }, meta).catch((error) => {
			throw error instanceof TookTooLong ? new Error(error.message) : error
		})
	}

	async close(): Promise<void> {
		this.#closed = new Error('The PDF renderer was closed')
		for (const { result } of this.#turns.clear()) result.reject(this.#closed)
		for (const process of this.#processes) process.end()
	}

	async #requireTime(link: string): Promise<void> {
		const spent = await this.#spent.get(link)
		if (!spent || spent.consumedPoints < this.#limits.visitorMs) return
		const seconds = String(Math.max(1, Math.ceil(spent.msBeforeNext / 1000)))
		const detail = `This link's PDF has taken too long to render; try again in ${seconds} s.`
		throw new ApiError('rate_limited', detail, { headers: { 'Retry-After': seconds } })
	}

	#add(key: string, request: RenderRequest, { owner, visitedLink: link, limitMs = this.#limits.renderMs }: PdfMeta): Job {
		if (this.#closed) throw this.#closed
		const result = Promise.withResolvers<Uint8Array>()
		const job = { key, owner, request, link, limitMs, result, isFirst: !link, waiters: 0 }
		if (!this.#turns.add(job)) {
			const headers = { 'Retry-After': '10' }
			throw new ApiError('unavailable', 'Too many PDFs wait to be rendered; try again in 10 s.', { headers })
		}
		// Nobody may be left to hear of a failure.
		job.result.promise.catch(() => {})
		this.#jobs.set(key, job)
		this.#renderNext()
		return job
	}

	#wait(job: Job, signal: AbortSignal | undefined): Promise<Uint8Array> {
		job.waiters++
		if (!signal) return job.result.promise
		return new Promise((resolve, reject) => {
			const hangUp = () => {
				if (--job.waiters === 0 && this.#turns.remove(job)) this.#jobs.delete(job.key)
				reject(signal.reason)
			}
			signal.addEventListener('abort', hangUp, { once: true })
			job.result.promise.finally(() => signal.removeEventListener('abort', hangUp)).then(resolve, reject)
		})
	}

	#renderNext(): void {
		while (!this.#closed) {
			const free = [...this.#processes].find(({ isFree }) => isFree)
			if (!free && this.#processes.size >= mostProcesses) return
			const job = this.#turns.next()
			if (!job) return
			void this.#run(job, free)
		}
	}

	#start(): RenderProcess {
		const process = new RenderProcess(() => this.#processes.delete(process))
		this.#processes.add(process)
		return process
	}

	async #run(job: Job, free: RenderProcess | undefined): Promise<void> {
		const startedAt = performance.now()
		try {
			const process = free ?? this.#start()
			const bytes = await process.render(job.request, job.limitMs)
			this.#kept.set(job.key, bytes)
			job.result.resolve(bytes)
		} catch (error) {
			job.result.reject(error)
		}
		this.#jobs.delete(job.key)
		this.#turns.done(job)
		if (job.link !== undefined) await this.#spent.penalty(job.link, Math.ceil(performance.now() - startedAt))
		this.#renderNext()
	}
}
