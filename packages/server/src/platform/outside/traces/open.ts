// Opens the exporter of traces. A collector that is slow or gone costs its spans and nothing else: 2,048 of them wait, those after
// them are dropped.
import { setTimeout as sleep } from 'node:timers/promises'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
	BatchSpanProcessor,
	ParentBasedSampler,
	type SpanExporter,
	TraceIdRatioBasedSampler,
	TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Logger } from 'pino'
import { version } from '../../contract/document.ts'
import { Traces } from './traces.ts'

export interface TraceSettings {
	readonly OTEL_EXPORTER_OTLP_ENDPOINT: string
	readonly OTEL_EXPORTER_OTLP_HEADERS: Readonly<Record<string, string>>
	readonly OTEL_SERVICE_NAME: string
	readonly OTEL_TRACES_SAMPLER_ARG: number
}

const timeoutMs = 5_000
/** How often spans are sent. */
const pauseMs = 2_000
/** How often the log says that they are not. */
const warnMs = 60_000

export function openTraces(settings: TraceSettings, log: Logger): Traces {
	const exporter = new OTLPTraceExporter({
		url: `${settings.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`,
		headers: { ...settings.OTEL_EXPORTER_OTLP_HEADERS },
		timeoutMillis: timeoutMs,
	})
	const processor = new BatchSpanProcessor({
		exporter: warning(exporter, log),
		maxQueueSize: 2_048,
		maxExportBatchSize: 512,
		scheduledDelayMillis: pauseMs,
		exportTimeoutMillis: timeoutMs,
	})
	const provider = new TracerProvider({
		resource: resourceFromAttributes({ 'service.name': settings.OTEL_SERVICE_NAME, 'service.version': version }),
		sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(settings.OTEL_TRACES_SAMPLER_ARG) }),
		spanLimits: { attributeValueLengthLimit: 200, attributeCountLimit: 20, eventCountLimit: 10, linkCountLimit: 0 },
		spanProcessors: [processor],
	})
	const flush = () => provider.shutdown().catch(() => {})
	return new Traces(provider.getTracer('remit', version), async (ms) => {
		await Promise.race([flush(), sleep(ms, undefined, { ref: false })])
	})
}

/** The exporter, whose failures the log tells, once in a minute. */
function warning(exporter: SpanExporter, log: Logger): SpanExporter {
	let warnedAt = Number.NEGATIVE_INFINITY
	return {
		export: (spans, done) =>
			exporter.export(spans, (result) => {
				if (result.code !== 0 && performance.now() - warnedAt > warnMs) {
					warnedAt = performance.now()
					log.warn({ err: result.error }, 'traces cannot be sent; they are dropped')
				}
				done(result)
			}),
		shutdown: () => exporter.shutdown(),
		forceFlush: async () => exporter.forceFlush?.(),
	}
}
