// Checks the deployment artefacts with the libraries of the tools that read them:
//
//	deploycheck chart FOLDER VALUES…       lints a Helm chart and prints what it renders with these values
//	deploycheck manifests SCHEMAS FILE…    validates Kubernetes manifests with the JSON schemas of a folder
//	deploycheck compose FILE               loads a Compose file as `docker compose` does, and prints the project as JSON
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/yannh/kubeconform/pkg/validator"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
)

const kubernetesVersion = "1.37.0"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) >= 2 && args[0] == "chart":
		return chart(args[1], args[2:])
	case len(args) >= 3 && args[0] == "manifests":
		return manifests(args[1], args[2:])
	case len(args) == 2 && args[0] == "compose":
		return compose(args[1])
	}
	return errors.New("usage: deploycheck chart FOLDER VALUES… | manifests SCHEMAS FILE… | compose FILE")
}

func chart(folder string, files []string) error {
	values := map[string]any{}
	for _, file := range files {
		text, err := os.Open(file)
		if err != nil {
			return err
		}
		more, err := loader.LoadValues(text)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		values = loader.MergeMaps(values, more)
	}
	// The linter's own render uses the chart's defaults for what the values leave out, as Helm does.
	var problems []string
	for _, message := range lint.RunAll(folder, values, "default").Messages {
		if message.Severity >= support.WarningSev {
			problems = append(problems, message.Error())
		}
	}
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	loaded, err := loader.LoadDir(folder)
	if err != nil {
		return err
	}
	version, err := common.ParseKubeVersion(kubernetesVersion)
	if err != nil {
		return err
	}
	capabilities := *common.DefaultCapabilities
	capabilities.KubeVersion = *version
	release := common.ReleaseOptions{Name: "postroom", Namespace: "mail", Revision: 1, IsInstall: true}
	top, err := util.ToRenderValues(loaded, values, release, &capabilities)
	if err != nil {
		return err
	}
	rendered, err := engine.Render(loaded, top)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(rendered))
	for name := range rendered {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if filepath.Ext(name) == ".yaml" && strings.TrimSpace(rendered[name]) != "" {
			fmt.Printf("---\n# Source: %s\n%s\n", name, rendered[name])
		}
	}
	return nil
}

func manifests(schemas string, files []string) error {
	location := filepath.Join(schemas, "{{.ResourceKind}}{{.KindSuffix}}.json")
	checker, err := validator.New([]string{location}, validator.Opts{Strict: true, KubernetesVersion: kubernetesVersion})
	if err != nil {
		return err
	}
	var problems []string
	count := 0
	for _, file := range files {
		text, err := os.Open(file)
		if err != nil {
			return err
		}
		for _, result := range checker.Validate(file, text) {
			switch result.Status {
			case validator.Valid:
				count++
			case validator.Empty:
			default:
				signature, _ := result.Resource.Signature()
				problems = append(problems, fmt.Sprintf("%s %s %s: %v", file, signature.Kind, signature.Name, result.Err))
			}
		}
	}
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	fmt.Printf("%d valid\n", count)
	return nil
}

func compose(file string) error {
	// In the order of `docker compose`: the .env file next to the Compose file fills in what the environment lacks.
	options, err := cli.NewProjectOptions([]string{file},
		cli.WithWorkingDirectory(filepath.Dir(file)), cli.WithOsEnv, cli.WithEnvFiles(), cli.WithDotEnv, cli.WithInterpolation(true))
	if err != nil {
		return err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(project)
}
