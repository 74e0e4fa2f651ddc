// The calls in a page of another origin.
import { calls } from './calls.js'

globalThis.calls = (apiKey, baseUrl) => calls({ apiKey, baseUrl, dangerouslyAllowBrowser: true })
